//! A chat: `Model`, `Msg` and `update`. The view is `app.native`.
//!
//! The model keeps the messages and the draft. Whether the draft can be sent,
//! and every figure on the screen, follows from these.

const std = @import("std");
const runner = @import("runner");
const native_sdk = @import("native_sdk");

pub const panic = std.debug.FullPanic(native_sdk.debug.capturePanic);

const canvas = native_sdk.canvas;
const geometry = native_sdk.geometry;

pub const canvas_label = "main-canvas";
pub const window_size = geometry.SizeF.init(520, 560);
/// The floor that tests.zig proves: the conversation and the composer still fit.
pub const window_min_size = geometry.SizeF.init(400, 360);

const app_permissions = [_][]const u8{ native_sdk.security.permission_command, native_sdk.security.permission_view };
const shell_views = [_]native_sdk.ShellView{
    .{ .label = canvas_label, .kind = .gpu_surface, .fill = true, .role = "Chat canvas", .accessibility_label = "Team chat", .gpu_backend = .metal, .gpu_pixel_format = .bgra8_unorm, .gpu_present_mode = .timer, .gpu_alpha_mode = .@"opaque", .gpu_color_space = .srgb, .gpu_vsync = true },
};
const shell_windows = [_]native_sdk.ShellWindow{.{
    .label = "main",
    .title = "Team Chat",
    .width = window_size.width,
    .height = window_size.height,
    .min_width = window_min_size.width,
    .min_height = window_min_size.height,
    .restore_state = false,
    .views = &shell_views,
}};
const shell_scene: native_sdk.ShellConfig = .{ .windows = &shell_windows };

// ------------------------------------------------------------------ model

pub const max_message_bytes = 280;
/// Every message is mounted, and a view has a fixed budget of widgets.
pub const max_messages = 60;

/// What counts as blank in a draft. It can have lines.
const blanks = " \t\r\n";

pub const Author = enum { mira, you };

pub const Message = struct {
    id: u32 = 0,
    author: Author = .mira,
    /// The bytes live in the message: the draft that they came from is cleared.
    storage: [max_message_bytes]u8 = undefined,
    len: usize = 0,

    pub fn text(message: *const Message) []const u8 {
        return message.storage[0..message.len];
    }

    pub fn mine(message: *const Message) bool {
        return message.author == .you;
    }

    /// Where the message stands in its row.
    pub fn side(message: *const Message) []const u8 {
        return if (message.mine()) "end" else "start";
    }

    /// What a screen reader says: who, and what.
    pub fn announced(message: *const Message, arena: std.mem.Allocator) []const u8 {
        const who = switch (message.author) {
            .mira => "Mira",
            .you => "You",
        };
        return std.fmt.allocPrint(arena, "{s}: {s}", .{ who, message.text() }) catch message.text();
    }
};

pub const Msg = union(enum) {
    draft_edit: canvas.TextInputEvent,
    /// A quick reply goes to the end of the draft.
    insert: []const u8,
    send,
};

pub const Model = struct {
    messages: [max_messages]Message = @splat(.{}),
    message_count: usize = 0,
    draft_buffer: canvas.TextBuffer(max_message_bytes) = .{},

    /// In the order that they have on the screen.
    pub const quick_replies = [_][]const u8{ "Yes", "No", "Thanks" };

    /// The view reads these through the functions below, never by name.
    pub const view_unbound = .{ "messages", "message_count", "draft_buffer" };

    // What the view binds.

    pub fn conversation(model: *const Model) []const Message {
        return model.messages[0..model.message_count];
    }

    pub fn messageCount(model: *const Model) usize {
        return model.message_count;
    }

    pub fn draft(model: *const Model) []const u8 {
        return model.draft_buffer.text();
    }

    pub fn draftLength(model: *const Model) usize {
        return model.draft().len;
    }

    pub fn capacity(_: *const Model) usize {
        return max_message_bytes;
    }

    /// The rule for sending, said once: `update` obeys it and the button shows it.
    pub fn canSend(model: *const Model) bool {
        return model.message_count < max_messages and std.mem.trim(u8, model.draft(), blanks).len > 0;
    }

    // Steps for `update`.

    /// The caller has made sure that there is room.
    fn append(model: *Model, author: Author, text: []const u8) void {
        const message = &model.messages[model.message_count];
        message.* = .{ .id = @intCast(model.message_count + 1), .author = author, .len = text.len };
        @memcpy(message.storage[0..text.len], text);
        model.message_count += 1;
    }

    /// Adds a word to the draft, apart from what is there; none that would be cut.
    fn insert(model: *Model, word: []const u8) void {
        const before = model.draft();
        const apart = before.len > 0 and std.mem.indexOfScalar(u8, blanks, before[before.len - 1]) == null;
        var buffer: [max_message_bytes]u8 = undefined;
        const after = std.fmt.bufPrint(&buffer, "{s}{s}{s}", .{ before, if (apart) " " else "", word }) catch return;
        model.draft_buffer.set(after);
    }
};

pub fn update(model: *Model, msg: Msg) void {
    switch (msg) {
        .draft_edit => |edit| model.draft_buffer.apply(edit),
        .insert => |word| model.insert(word),
        .send => {
            // The keyboard's way of sending arrives here too, whatever the button shows.
            if (!model.canSend()) return;
            model.append(.you, std.mem.trim(u8, model.draft(), blanks));
            model.draft_buffer.clear();
        },
    }
}

pub fn initialModel() Model {
    var model: Model = .{};
    model.append(.mira, "Are we still on for Friday?");
    model.append(.you, "Yes, ten o'clock works.");
    model.append(.mira, "Great, I will book the room.");
    return model;
}

// ------------------------------------------------------------- view and app

pub const AppUi = canvas.Ui(Msg);
pub const app_markup = @embedFile("app.native");

pub const ChatApp = native_sdk.UiApp(Model, Msg);

/// One set of options for the real app and for the tests that run it headless.
pub fn appOptions() ChatApp.Options {
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
    // Hot reload needs a file system, which only the real app has.
    options.markup = .{ .source = app_markup, .watch_path = "src/app.native", .io = init.io };

    const app_state = try ChatApp.create(std.heap.page_allocator, options);
    defer app_state.destroy();
    app_state.model = initialModel();

    try runner.runWithOptions(app_state.app(), .{
        .app_name = "app",
        .window_title = "Team Chat",
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
