//! An expense ledger: a fixed list of entries, and what of it is shown. Rows, the
//! total and the empty state are derived from the entries and the filter.

const std = @import("std");
const runner = @import("runner");
const native_sdk = @import("native_sdk");

pub const panic = std.debug.FullPanic(native_sdk.debug.capturePanic);

const canvas = native_sdk.canvas;
const geometry = native_sdk.geometry;

pub const canvas_label = "main-canvas";
pub const window_size = geometry.SizeF.init(720, 480);
/// The smallest window; tests.zig shows that everything fits in it.
pub const window_min_size = geometry.SizeF.init(640, 340);

const app_permissions = [_][]const u8{ native_sdk.security.permission_command, native_sdk.security.permission_view };
const shell_views = [_]native_sdk.ShellView{
    .{ .label = canvas_label, .kind = .gpu_surface, .fill = true, .role = "Expenses canvas", .accessibility_label = "Expenses", .gpu_backend = .metal, .gpu_pixel_format = .bgra8_unorm, .gpu_present_mode = .timer, .gpu_alpha_mode = .@"opaque", .gpu_color_space = .srgb, .gpu_vsync = true },
};
const shell_windows = [_]native_sdk.ShellWindow{.{
    .label = "main",
    .title = "Expenses",
    .width = window_size.width,
    .height = window_size.height,
    .min_width = window_min_size.width,
    .min_height = window_min_size.height,
    .restore_state = false,
    .views = &shell_views,
}};
const shell_scene: native_sdk.ShellConfig = .{ .windows = &shell_windows };

// ------------------------------------------------------------------ model

pub const Category = enum {
    food,
    travel,
    office,
    training,

    pub fn name(category: Category) []const u8 {
        return switch (category) {
            .food => "Food",
            .travel => "Travel",
            .office => "Office",
            .training => "Training",
        };
    }
};

pub const Expense = struct {
    id: u32,
    date: []const u8,
    what: []const u8,
    category: Category,
    cents: u64,
};

pub const Filter = enum {
    all,
    food,
    travel,
    office,
    training,

    pub fn category(filter: Filter) ?Category {
        return switch (filter) {
            .all => null,
            inline else => |tag| @field(Category, @tagName(tag)),
        };
    }

    pub fn name(filter: Filter) []const u8 {
        return if (filter.category()) |category_of| category_of.name() else "All";
    }

    fn admits(filter: Filter, expense: Expense) bool {
        const wanted = filter.category() orelse return true;
        return expense.category == wanted;
    }
};

/// A button of the filter, and a row of the table, as they are shown.
pub const Choice = struct { filter: Filter, name: []const u8, chosen: bool };
pub const Row = struct { id: u32, date: []const u8, what: []const u8, category: []const u8, amount: []const u8 };

pub const Msg = union(enum) {
    show: Filter,
    show_all,
    toggle_largest_first,
};

const ledger = [_]Expense{
    .{ .id = 1, .date = "2026-03-02", .what = "Team lunch", .category = .food, .cents = 84_50 },
    .{ .id = 2, .date = "2026-03-03", .what = "Train to Bonn", .category = .travel, .cents = 129_00 },
    .{ .id = 3, .date = "2026-03-05", .what = "Standing desk", .category = .office, .cents = 1_249_99 },
    .{ .id = 4, .date = "2026-03-09", .what = "Coffee beans", .category = .food, .cents = 23_05 },
    .{ .id = 5, .date = "2026-03-12", .what = "Hotel in Bonn", .category = .travel, .cents = 310_80 },
    .{ .id = 6, .date = "2026-03-15", .what = "Printer paper", .category = .office, .cents = 18_00 },
};

pub const Model = struct {
    filter: Filter = .all,
    largest_first: bool = false,

    pub const view_unbound = .{"filter"};

    pub fn choices(model: *const Model, arena: std.mem.Allocator) []const Choice {
        const filters = std.enums.values(Filter);
        const out = arena.alloc(Choice, filters.len) catch return &.{};
        for (out, filters) |*choice, filter| {
            choice.* = .{ .filter = filter, .name = filter.name(), .chosen = filter == model.filter };
        }
        return out;
    }

    pub fn rows(model: *const Model, arena: std.mem.Allocator) []const Row {
        var shown: [ledger.len]Expense = undefined;
        const expenses = model.pick(&shown);
        const out = arena.alloc(Row, expenses.len) catch return &.{};
        for (out, expenses) |*row, expense| {
            row.* = .{
                .id = expense.id,
                .date = expense.date,
                .what = expense.what,
                .category = expense.category.name(),
                .amount = money(arena, expense.cents),
            };
        }
        return out;
    }

    pub fn hasRows(model: *const Model) bool {
        var shown: [ledger.len]Expense = undefined;
        return model.pick(&shown).len > 0;
    }

    pub fn filterName(model: *const Model) []const u8 {
        return model.filter.name();
    }

    pub fn summary(model: *const Model, arena: std.mem.Allocator) []const u8 {
        var shown: [ledger.len]Expense = undefined;
        const expenses = model.pick(&shown);
        var cents: u64 = 0;
        for (expenses) |expense| cents += expense.cents;
        const noun = if (expenses.len == 1) "expense" else "expenses";
        return std.fmt.allocPrint(arena, "{d} {s}, {s} in total", .{ expenses.len, noun, money(arena, cents) }) catch "";
    }

    /// The expenses that the filter lets through, in the order in which they are
    /// shown: by date, as the ledger is, or the largest first.
    fn pick(model: *const Model, shown: *[ledger.len]Expense) []const Expense {
        var len: usize = 0;
        for (ledger) |expense| {
            if (!model.filter.admits(expense)) continue;
            shown[len] = expense;
            len += 1;
        }
        if (model.largest_first) std.mem.sort(Expense, shown[0..len], {}, largerThan);
        return shown[0..len];
    }
};

fn largerThan(_: void, left: Expense, right: Expense) bool {
    return left.cents > right.cents;
}

/// Cents as whole dollars.
pub fn money(arena: std.mem.Allocator, cents: u64) []const u8 {
    return std.fmt.allocPrint(arena, "${d}", .{(cents + 50) / 100}) catch "";
}

pub fn update(model: *Model, msg: Msg) void {
    switch (msg) {
        .show => |filter| model.filter = filter,
        .show_all => model.filter = .all,
        .toggle_largest_first => model.largest_first = !model.largest_first,
    }
}

pub fn initialModel() Model {
    return .{};
}

// ------------------------------------------------------------- view and app

pub const AppUi = canvas.Ui(Msg);
pub const app_markup = @embedFile("app.native");

pub const App = native_sdk.UiApp(Model, Msg);

/// The same options for the real app and for the tests that run it headless.
pub fn appOptions() App.Options {
    return .{
        .name = "app",
        .scene = shell_scene,
        .canvas_label = canvas_label,
        .update = update,
        .markup = .{ .source = app_markup },
    };
}

pub fn main(init: std.process.Init) !void {
    var options = appOptions();
    options.markup = .{ .source = app_markup, .watch_path = "src/app.native", .io = init.io };

    const app_state = try App.create(std.heap.page_allocator, options);
    defer app_state.destroy();
    app_state.model = initialModel();

    try runner.runWithOptions(app_state.app(), .{
        .app_name = "app",
        .window_title = "Expenses",
        .bundle_id = "dev.native_sdk.app",
        .icon_path = "assets/icon.png",
        .default_frame = geometry.RectF.init(0, 0, window_size.width, window_size.height),
        .restore_state = false,
        .js_window_api = false,
        .security = .{
            .permissions = &app_permissions,
            .navigation = .{ .allowed_origins = &.{ "zero://inline", "zero://app" } },
        },
    }, init);
}

test {
    _ = @import("tests.zig");
}
