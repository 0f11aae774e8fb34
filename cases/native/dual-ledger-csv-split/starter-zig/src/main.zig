//! The household's ledger of March 2026: its entries, the next one that is being
//! written, and what they come to.

const std = @import("std");
const runner = @import("runner");
const native_sdk = @import("native_sdk");

pub const panic = std.debug.FullPanic(native_sdk.debug.capturePanic);

const canvas = native_sdk.canvas;
const geometry = native_sdk.geometry;

pub const canvas_label = "main-canvas";
pub const window_size = geometry.SizeF.init(640, 520);
pub const window_min_size = geometry.SizeF.init(480, 360);

const app_permissions = [_][]const u8{ native_sdk.security.permission_command, native_sdk.security.permission_view };
const shell_views = [_]native_sdk.ShellView{
    .{ .label = canvas_label, .kind = .gpu_surface, .fill = true, .role = "Ledger canvas", .accessibility_label = "Ledger", .gpu_backend = .metal, .gpu_pixel_format = .bgra8_unorm, .gpu_present_mode = .timer, .gpu_alpha_mode = .@"opaque", .gpu_color_space = .srgb, .gpu_vsync = true },
};
const shell_windows = [_]native_sdk.ShellWindow{.{
    .label = "main",
    .title = "Ledger",
    .width = window_size.width,
    .height = window_size.height,
    .min_width = window_min_size.width,
    .min_height = window_min_size.height,
    .restore_state = false,
    .views = &shell_views,
}};
const shell_scene: native_sdk.ShellConfig = .{ .windows = &shell_windows };

// ----------------------------------------------------------------- ledger

pub const max_entries = 128;
pub const max_field_bytes = 60;
pub const last_day = 31;

pub const Category = enum { food, home, travel, income };

pub const Entry = struct {
    id: u32 = 0,
    /// Of the month, from 1 on.
    day: u8 = 1,
    category: Category = .food,
    /// What was spent is below zero.
    cents: i64 = 0,
    payee_storage: [max_field_bytes]u8 = undefined,
    payee_len: usize = 0,

    pub fn payee(entry: *const Entry) []const u8 {
        return entry.payee_storage[0..entry.payee_len];
    }
};

/// Such as 2026-03-09.
fn writeDate(day: u8, writer: *std.Io.Writer) std.Io.Writer.Error!void {
    try writer.print("2026-03-{d:0>2}", .{day});
}

/// Such as -0.05.
fn writeCents(cents: i64, writer: *std.Io.Writer) std.Io.Writer.Error!void {
    if (cents < 0) try writer.writeByte('-');
    try writer.print("{d}.{d:0>2}", .{ @abs(cents) / 100, @abs(cents) % 100 });
}

/// An amount such as -12, 12.5 or 12.50; null for anything else.
fn parsedCents(text: []const u8) ?i64 {
    const negative = text.len > 0 and text[0] == '-';
    var cents: i64 = 0;
    var digits: usize = 0;
    var decimals: ?usize = null;
    for (text[@intFromBool(negative)..]) |byte| switch (byte) {
        '.' => {
            if (decimals != null or digits == 0) return null;
            decimals = 0;
        },
        '0'...'9' => {
            if (decimals == 2 or digits == 9) return null;
            cents = cents * 10 + (byte - '0');
            digits += 1;
            if (decimals) |*count| count.* += 1;
        },
        else => return null,
    };
    if (digits == 0) return null;
    const scale: i64 = switch (decimals orelse return if (negative) -cents * 100 else cents * 100) {
        0 => return null,
        1 => 10,
        else => 1,
    };
    return if (negative) -cents * scale else cents * scale;
}

fn totalCents(entries: []const Entry) i64 {
    var total: i64 = 0;
    for (entries) |entry| total += entry.cents;
    return total;
}

// ------------------------------------------------------------------ model

/// A line of the table.
pub const Row = struct { id: u32, date: []const u8, payee: []const u8, category: Category, amount: []const u8 };

pub const Msg = union(enum) {
    payee_edit: canvas.TextInputEvent,
    amount_edit: canvas.TextInputEvent,
    set_category: Category,
    day_back,
    day_on,
    add_entry,
    delete_entry: u32,
    toggle_order,
};

pub const Model = struct {
    entries: [max_entries]Entry = @splat(.{}),
    entry_count: usize = 0,
    next_id: u32 = 1,
    newest_first: bool = false,
    /// The next entry.
    day: u8 = last_day,
    category: Category = .food,
    payee_buffer: canvas.TextBuffer(max_field_bytes) = .{},
    amount_buffer: canvas.TextBuffer(max_field_bytes) = .{},

    pub const view_unbound = .{ "entries", "entry_count", "next_id", "day", "payee_buffer", "amount_buffer", "all" };

    pub const categories = [_]Category{ .food, .home, .travel, .income };

    pub fn all(model: *const Model) []const Entry {
        return model.entries[0..model.entry_count];
    }

    pub fn payee(model: *const Model) []const u8 {
        return model.payee_buffer.text();
    }

    pub fn amount(model: *const Model) []const u8 {
        return model.amount_buffer.text();
    }

    pub fn date(model: *const Model, arena: std.mem.Allocator) []const u8 {
        return dateText(model.day, arena);
    }

    pub fn balance(model: *const Model, arena: std.mem.Allocator) []const u8 {
        return centsText(totalCents(model.all()), arena);
    }

    pub fn entryCount(model: *const Model) usize {
        return model.entry_count;
    }

    pub fn rows(model: *const Model, arena: std.mem.Allocator) []const Row {
        const out = arena.alloc(Row, model.entry_count) catch return &.{};
        for (out, 0..) |*row, index| {
            const entry = &model.entries[if (model.newest_first) model.entry_count - 1 - index else index];
            row.* = .{
                .id = entry.id,
                .date = dateText(entry.day, arena),
                .payee = entry.payee(),
                .category = entry.category,
                .amount = centsText(entry.cents, arena),
            };
        }
        return out;
    }

    /// Whether the next entry says what it must.
    pub fn canAdd(model: *const Model) bool {
        return model.entry_count < max_entries and trimmed(model.payee()).len > 0 and parsedCents(trimmed(model.amount())) != null;
    }

    /// The caller has made sure that there is room.
    fn append(model: *Model, day: u8, payee_text: []const u8, category: Category, cents: i64) void {
        var entry: Entry = .{ .id = model.next_id, .day = day, .category = category, .cents = cents, .payee_len = payee_text.len };
        @memcpy(entry.payee_storage[0..payee_text.len], payee_text);
        model.entries[model.entry_count] = entry;
        model.entry_count += 1;
        model.next_id += 1;
    }

    fn remove(model: *Model, id: u32) void {
        for (model.all(), 0..) |entry, index| {
            if (entry.id != id) continue;
            std.mem.copyForwards(Entry, model.entries[index .. model.entry_count - 1], model.entries[index + 1 .. model.entry_count]);
            model.entry_count -= 1;
            return;
        }
    }
};

fn dateText(day: u8, arena: std.mem.Allocator) []const u8 {
    var writer = std.Io.Writer.Allocating.init(arena);
    writeDate(day, &writer.writer) catch return "";
    return writer.written();
}

fn centsText(cents: i64, arena: std.mem.Allocator) []const u8 {
    var writer = std.Io.Writer.Allocating.init(arena);
    writeCents(cents, &writer.writer) catch return "";
    return writer.written();
}

fn trimmed(text: []const u8) []const u8 {
    return std.mem.trim(u8, text, " \t");
}

pub fn update(model: *Model, msg: Msg) void {
    switch (msg) {
        .payee_edit => |edit| model.payee_buffer.apply(edit),
        .amount_edit => |edit| model.amount_buffer.apply(edit),
        .set_category => |category| model.category = category,
        .day_back => model.day = @max(1, model.day - 1),
        .day_on => model.day = @min(last_day, model.day + 1),
        .add_entry => {
            if (!model.canAdd()) return;
            model.append(model.day, trimmed(model.payee()), model.category, parsedCents(trimmed(model.amount())).?);
            model.payee_buffer.clear();
            model.amount_buffer.clear();
        },
        .delete_entry => |id| model.remove(id),
        .toggle_order => model.newest_first = !model.newest_first,
    }
}

pub fn initialModel() Model {
    var model: Model = .{};
    model.append(2, "Green Grocer, Market St", .food, -2350);
    model.append(5, "Salary", .income, 210000);
    model.append(9, "The \"Old\" Mill", .food, -1805);
    model.append(14, "Plumber", .home, -9000);
    model.append(21, "Train, 2nd class, \"Flex\"", .travel, -4990);
    return model;
}

// ------------------------------------------------------------- view and app

pub const AppUi = canvas.Ui(Msg);
pub const app_markup = @embedFile("app.native");

pub const App = native_sdk.UiApp(Model, Msg);

pub fn main(init: std.process.Init) !void {
    const app_state = try App.create(std.heap.page_allocator, .{
        .name = "app",
        .scene = shell_scene,
        .canvas_label = canvas_label,
        .update = update,
        .markup = .{ .source = app_markup, .watch_path = "src/app.native", .io = init.io },
    });
    defer app_state.destroy();
    app_state.model = initialModel();

    try runner.runWithOptions(app_state.app(), .{
        .app_name = "app",
        .window_title = "Ledger",
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
