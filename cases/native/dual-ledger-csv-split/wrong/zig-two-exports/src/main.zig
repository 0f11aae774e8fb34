//! The household's ledger of March 2026: its entries, the next one that is being
//! written, and what they come to.

const std = @import("std");
const runner = @import("runner");
const native_sdk = @import("native_sdk");
const csv = @import("csv.zig");
const ledger = @import("ledger.zig");

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

// ------------------------------------------------------------------ model

pub const max_entries = 128;
pub const export_path = "ledger.csv";
const export_key: u64 = 1;

const Category = ledger.Category;
const Entry = ledger.Entry;

pub const ExportState = enum { idle, exporting, exported, failed };

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
    export_csv,
    export_done: native_sdk.EffectFileResult,

    /// It comes from the effects channel, never from the view.
    pub const view_unbound = .{"export_done"};
};

pub const Effects = native_sdk.Effects(Msg);

pub const Model = struct {
    entries: [max_entries]Entry = @splat(.{}),
    entry_count: usize = 0,
    next_id: u32 = 1,
    newest_first: bool = false,
    /// The next entry.
    day: u8 = ledger.last_day,
    category: Category = .food,
    payee_buffer: canvas.TextBuffer(ledger.max_field_bytes) = .{},
    amount_buffer: canvas.TextBuffer(ledger.max_field_bytes) = .{},
    /// Counts the changes of the entries. By it an export is known: the one under
    /// way, the one that is in the file, and the state of the ledger in which the
    /// last one failed.
    revision: u64 = 0,
    exporting: ?u64 = null,
    in_file: ?u64 = null,
    refused: ?u64 = null,

    pub const view_unbound = .{ "entries", "entry_count", "next_id", "day", "payee_buffer", "amount_buffer", "all", "revision", "exporting", "in_file", "refused", "exportState" };

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
        return ledger.dateText(model.day, arena);
    }

    pub fn balance(model: *const Model, arena: std.mem.Allocator) []const u8 {
        return ledger.centsText(ledger.totalCents(model.all()), arena);
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
                .date = ledger.dateText(entry.day, arena),
                .payee = entry.payee(),
                .category = entry.category,
                .amount = ledger.centsText(entry.cents, arena),
            };
        }
        return out;
    }

    pub fn exportState(model: *const Model) ExportState {
        if (model.exporting != null) return .exporting;
        if (model.refused == model.revision) return .failed;
        return if (model.in_file == model.revision) .exported else .idle;
    }

    pub fn exportText(model: *const Model) []const u8 {
        return switch (model.exportState()) {
            .idle => "Not exported",
            .exporting => "Exporting",
            .exported => "Exported to ledger.csv",
            .failed => "Export failed",
        };
    }

    pub fn canExport(model: *const Model) bool {
        return model.exporting == null;
    }

    /// Whether the next entry says what it must.
    pub fn canAdd(model: *const Model) bool {
        return model.entry_count < max_entries and trimmed(model.payee()).len > 0 and ledger.parsedCents(trimmed(model.amount())) != null;
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
            model.revision += 1;
            return;
        }
    }
};

fn trimmed(text: []const u8) []const u8 {
    return std.mem.trim(u8, text, " \t");
}

fn exportCsv(model: *Model, fx: *Effects) void {
    model.exporting = model.revision;
    var buffer: [csv.maxBytes(max_entries)]u8 = undefined;
    var writer: std.Io.Writer = .fixed(&buffer);
    csv.write(model.all(), &writer) catch unreachable; // the buffer holds the most there can be
    fx.writeFile(.{
        .key = export_key + model.revision,
        .path = export_path,
        .bytes = writer.buffered(),
        .on_result = Effects.fileMsg(.export_done),
    });
}

pub fn update(model: *Model, msg: Msg, fx: *Effects) void {
    switch (msg) {
        .payee_edit => |edit| model.payee_buffer.apply(edit),
        .amount_edit => |edit| model.amount_buffer.apply(edit),
        .set_category => |category| model.category = category,
        .day_back => model.day = @max(1, model.day - 1),
        .day_on => model.day = @min(ledger.last_day, model.day + 1),
        .add_entry => {
            if (!model.canAdd()) return;
            model.append(model.day, trimmed(model.payee()), model.category, ledger.parsedCents(trimmed(model.amount())).?);
            model.revision += 1;
            model.payee_buffer.clear();
            model.amount_buffer.clear();
        },
        .delete_entry => |id| model.remove(id),
        .toggle_order => model.newest_first = !model.newest_first,
        .export_csv => exportCsv(model, fx),
        .export_done => |result| {
            const taken = model.exporting orelse return;
            model.exporting = null;
            if (result.outcome == .ok) {
                model.in_file = taken;
                model.refused = null;
            } else {
                model.refused = model.revision;
            }
        },
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
        .update_fx = update,
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
