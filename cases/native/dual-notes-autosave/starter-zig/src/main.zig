//! Notes: a list of them, and the one that is being written.

const std = @import("std");
const runner = @import("runner");
const native_sdk = @import("native_sdk");

pub const panic = std.debug.FullPanic(native_sdk.debug.capturePanic);

const canvas = native_sdk.canvas;
const geometry = native_sdk.geometry;

pub const canvas_label = "main-canvas";
pub const window_size = geometry.SizeF.init(640, 480);
pub const window_min_size = geometry.SizeF.init(480, 320);

const app_permissions = [_][]const u8{ native_sdk.security.permission_command, native_sdk.security.permission_view };
const shell_views = [_]native_sdk.ShellView{
    .{ .label = canvas_label, .kind = .gpu_surface, .fill = true, .role = "Notes canvas", .accessibility_label = "Notes", .gpu_backend = .metal, .gpu_pixel_format = .bgra8_unorm, .gpu_present_mode = .timer, .gpu_alpha_mode = .@"opaque", .gpu_color_space = .srgb, .gpu_vsync = true },
};
const shell_windows = [_]native_sdk.ShellWindow{.{
    .label = "main",
    .title = "Notes",
    .width = window_size.width,
    .height = window_size.height,
    .min_width = window_min_size.width,
    .min_height = window_min_size.height,
    .restore_state = false,
    .views = &shell_views,
}};
const shell_scene: native_sdk.ShellConfig = .{ .windows = &shell_windows };

// ------------------------------------------------------------------ model

pub const max_notes = 32;
pub const max_title_bytes = 60;
pub const max_body_bytes = 500;

pub const Note = struct {
    id: u32 = 0,
    title_buffer: canvas.TextBuffer(max_title_bytes) = .{},
    body_buffer: canvas.TextBuffer(max_body_bytes) = .{},
};

/// A line of the list.
pub const Row = struct { id: u32, name: []const u8, selected: bool };

pub const Msg = union(enum) {
    select_note: u32,
    new_note,
    delete_note: u32,
    title_edit: canvas.TextInputEvent,
    body_edit: canvas.TextInputEvent,
};

pub const Model = struct {
    notes: [max_notes]Note = @splat(.{}),
    note_count: usize = 0,
    next_id: u32 = 1,
    /// 0: none.
    selected_id: u32 = 0,

    pub const view_unbound = .{ "notes", "note_count", "next_id", "all" };

    pub fn all(model: *const Model) []const Note {
        return model.notes[0..model.note_count];
    }

    pub fn title(model: *const Model) []const u8 {
        const index = model.selectedIndex() orelse return "";
        return model.notes[index].title_buffer.text();
    }

    pub fn body(model: *const Model) []const u8 {
        const index = model.selectedIndex() orelse return "";
        return model.notes[index].body_buffer.text();
    }

    pub fn hasNote(model: *const Model) bool {
        return model.selectedIndex() != null;
    }

    pub fn noteCount(model: *const Model) usize {
        return model.note_count;
    }

    pub fn rows(model: *const Model, arena: std.mem.Allocator) []const Row {
        const out = arena.alloc(Row, model.note_count) catch return &.{};
        for (out, model.all()) |*row, *note| {
            const name = note.title_buffer.text();
            row.* = .{
                .id = note.id,
                .name = if (name.len > 0) name else "Untitled",
                .selected = note.id == model.selected_id,
            };
        }
        return out;
    }

    fn selectedIndex(model: *const Model) ?usize {
        return model.indexOf(model.selected_id);
    }

    fn indexOf(model: *const Model, id: u32) ?usize {
        for (model.all(), 0..) |note, index| {
            if (note.id == id) return index;
        }
        return null;
    }

    /// The caller has made sure that there is room.
    fn append(model: *Model, title_text: []const u8, body_text: []const u8) void {
        model.notes[model.note_count] = .{ .id = model.next_id, .title_buffer = .init(title_text), .body_buffer = .init(body_text) };
        model.note_count += 1;
        model.next_id += 1;
    }

    fn remove(model: *Model, index: usize) void {
        const id = model.notes[index].id;
        std.mem.copyForwards(Note, model.notes[index .. model.note_count - 1], model.notes[index + 1 .. model.note_count]);
        model.note_count -= 1;
        if (model.selected_id != id) return;
        model.selected_id = if (model.note_count > 0) model.notes[0].id else 0;
    }
};

pub fn update(model: *Model, msg: Msg) void {
    switch (msg) {
        .select_note => |id| model.selected_id = id,
        .new_note => {
            if (model.note_count == max_notes) return;
            model.append("", "");
            model.selected_id = model.notes[model.note_count - 1].id;
        },
        .delete_note => |id| model.remove(model.indexOf(id) orelse return),
        .title_edit => |edit| {
            const index = model.selectedIndex() orelse return;
            model.notes[index].title_buffer.apply(edit);
        },
        .body_edit => |edit| {
            const index = model.selectedIndex() orelse return;
            model.notes[index].body_buffer.apply(edit);
        },
    }
}

pub fn initialModel() Model {
    var model: Model = .{};
    model.append("Groceries", "Milk\nBread");
    model.append("Ideas", "Paint the shed");
    model.append("Scans", "C:\\scans\tpage 4");
    model.selected_id = 1;
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
        .window_title = "Notes",
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
