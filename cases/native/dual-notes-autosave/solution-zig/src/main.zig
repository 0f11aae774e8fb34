//! Notes: a list of them, the one that is being written, and the file that they
//! are kept in.

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
    save_now,
    autosave_due: native_sdk.EffectTimer,
    save_done: native_sdk.EffectFileResult,

    /// These come from the effects channel, never from the view.
    pub const view_unbound = .{ "autosave_due", "save_done" };
};

pub const Effects = native_sdk.Effects(Msg);

pub const file_path = "notes.tsv";
pub const autosave_ms = 800;
const autosave_key: u64 = 1;
const save_key: u64 = 1;

/// Every byte of a text may need a second one; an id has at most ten digits.
const max_file_bytes = max_notes * (10 + 2 * (max_title_bytes + max_body_bytes) + "\t\t\n".len);

pub const SaveState = enum { idle, pending, saving, saved, failed };

pub const Model = struct {
    notes: [max_notes]Note = @splat(.{}),
    note_count: usize = 0,
    next_id: u32 = 1,
    /// 0: none.
    selected_id: u32 = 0,
    /// Changes since the start, how many of them the file has, and how many the
    /// save that is under way took along.
    changes: u64 = 0,
    in_file: u64 = 0,
    under_way: ?u64 = null,
    /// The next save begins when this one is back.
    due: bool = false,
    /// Whether the last save failed, with nothing changed since.
    stuck: bool = false,

    pub const view_unbound = .{ "notes", "note_count", "next_id", "all", "changes", "in_file", "under_way", "due", "stuck", "saveState" };

    pub fn saveState(model: *const Model) SaveState {
        if (model.under_way == model.changes) return .saving;
        if (model.in_file == model.changes) return if (model.changes == 0) .idle else .saved;
        return if (model.stuck) .failed else .pending;
    }

    pub fn saveText(model: *const Model) []const u8 {
        return switch (model.saveState()) {
            .idle => "No changes",
            .pending => "Unsaved changes",
            .saving => "Saving",
            .saved => "All changes saved",
            .failed => "Could not save",
        };
    }

    /// Whether there is anything that neither the file nor the save under way has.
    pub fn canSave(model: *const Model) bool {
        return model.in_file != model.changes and model.under_way != model.changes;
    }

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

/// What the file holds of these notes.
fn writeTsv(notes: []const Note, writer: *std.Io.Writer) std.Io.Writer.Error!void {
    for (notes) |*note| {
        try writer.print("{d}\t", .{note.id});
        try writeEscaped(note.title_buffer.text(), writer);
        try writer.writeByte('\t');
        try writeEscaped(note.body_buffer.text(), writer);
        try writer.writeByte('\n');
    }
}

/// Within a text, what would end a field or a line is written as two characters.
fn writeEscaped(text: []const u8, writer: *std.Io.Writer) std.Io.Writer.Error!void {
    for (text) |byte| switch (byte) {
        '\t' => try writer.writeAll("\\t"),
        '\n' => try writer.writeAll("\\n"),
        '\\' => try writer.writeAll("\\\\"),
        else => try writer.writeByte(byte),
    };
}

/// Each change begins the pause anew: a timer that is armed again is replaced.
fn changed(model: *Model, fx: *Effects) void {
    model.changes += 1;
    model.stuck = false;
    fx.startTimer(.{
        .key = autosave_key,
        .interval_ms = autosave_ms,
        .mode = .one_shot,
        .on_fire = Effects.timerMsg(.autosave_due),
    });
}

/// Takes along everything there is, now or when the save under way is back.
fn save(model: *Model, fx: *Effects) void {
    if (!model.canSave()) return;
    fx.cancelTimer(autosave_key);
    if (model.under_way != null) {
        model.due = true;
        return;
    }
    model.under_way = model.changes;
    model.stuck = false;
    var buffer: [max_file_bytes]u8 = undefined;
    var writer: std.Io.Writer = .fixed(&buffer);
    writeTsv(model.all(), &writer) catch unreachable; // the buffer holds the most there can be
    fx.writeFile(.{
        .key = save_key,
        .path = file_path,
        .bytes = writer.buffered(),
        .on_result = Effects.fileMsg(.save_done),
    });
}

fn saved(model: *Model, outcome: native_sdk.EffectFileOutcome, fx: *Effects) void {
    const taken = model.under_way orelse return;
    model.under_way = null;
    if (outcome == .ok) {
        model.in_file = taken;
    } else {
        model.stuck = taken == model.changes;
    }
    if (!model.due) return;
    model.due = false;
    save(model, fx);
}

/// Applies an edit, and tells whether it changed the text: a caret that moves does not.
fn editText(buffer: anytype, edit: canvas.TextInputEvent) bool {
    const before = buffer.*;
    buffer.apply(edit);
    return !std.mem.eql(u8, before.text(), buffer.text());
}

pub fn update(model: *Model, msg: Msg, fx: *Effects) void {
    switch (msg) {
        .select_note => |id| model.selected_id = id,
        .new_note => {
            if (model.note_count == max_notes) return;
            model.append("", "");
            model.selected_id = model.notes[model.note_count - 1].id;
            changed(model, fx);
        },
        .delete_note => |id| {
            model.remove(model.indexOf(id) orelse return);
            changed(model, fx);
        },
        .title_edit => |edit| {
            const index = model.selectedIndex() orelse return;
            if (editText(&model.notes[index].title_buffer, edit)) changed(model, fx);
        },
        .body_edit => |edit| {
            const index = model.selectedIndex() orelse return;
            if (editText(&model.notes[index].body_buffer, edit)) changed(model, fx);
        },
        // A timer that the platform refuses saves at once: better often than never.
        .save_now, .autosave_due => save(model, fx),
        .save_done => |result| saved(model, result.outcome, fx),
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
        .update_fx = update,
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
