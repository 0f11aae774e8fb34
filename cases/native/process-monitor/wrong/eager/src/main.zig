//! Watches one long-running command. `update` asks the effects channel to start
//! and to end it; its lines and its end come back as messages.

const std = @import("std");
const runner = @import("runner");
const native_sdk = @import("native_sdk");

pub const panic = std.debug.FullPanic(native_sdk.debug.capturePanic);

const canvas = native_sdk.canvas;
const geometry = native_sdk.geometry;

pub const canvas_label = "main-canvas";
pub const window_size = geometry.SizeF.init(640, 520);
/// The smallest window; tests.zig shows that everything fits in it.
pub const window_min_size = geometry.SizeF.init(420, 320);

const app_permissions = [_][]const u8{ native_sdk.security.permission_command, native_sdk.security.permission_view };
const shell_views = [_]native_sdk.ShellView{
    .{ .label = canvas_label, .kind = .gpu_surface, .fill = true, .role = "Process Monitor canvas", .accessibility_label = "Process Monitor", .gpu_backend = .metal, .gpu_pixel_format = .bgra8_unorm, .gpu_present_mode = .timer, .gpu_alpha_mode = .@"opaque", .gpu_color_space = .srgb, .gpu_vsync = true },
};
const shell_windows = [_]native_sdk.ShellWindow{.{
    .label = "main",
    .title = "Process Monitor",
    .width = window_size.width,
    .height = window_size.height,
    .min_width = window_min_size.width,
    .min_height = window_min_size.height,
    .restore_state = false,
    .views = &shell_views,
}};
const shell_scene: native_sdk.ShellConfig = .{ .windows = &shell_windows };

// ------------------------------------------------------------------ model

pub const Effects = native_sdk.Effects(Msg);

pub const command = [_][]const u8{ "sh", "-c", "i=1; while [ $i -le 60 ]; do echo \"tick $i\"; i=$((i+1)); sleep 1; done" };

pub const max_lines = 12;
pub const max_line_bytes = 200;

pub const Line = struct {
    /// Counts from 1 within a run.
    number: usize = 0,
    storage: [max_line_bytes]u8 = undefined,
    len: usize = 0,

    pub fn text(line: *const Line) []const u8 {
        return line.storage[0..line.len];
    }
};

const End = struct { reason: native_sdk.EffectExitReason, code: i32 };

pub const Msg = union(enum) {
    start,
    cancel,
    line: native_sdk.EffectLine,
    exited: native_sdk.EffectExit,

    /// These come from the effects channel, never from the view.
    pub const view_unbound = .{ "line", "exited" };
};

pub const Model = struct {
    /// The key of the run that is going on. Each run has a new one, so that what
    /// comes late from an older run is told apart.
    run: ?u64 = null,
    last_key: u64 = 0,
    last_end: ?End = null,
    /// The last lines, each at its number modulo their count.
    ring: [max_lines]Line = @splat(.{}),
    received: usize = 0,
    dropped: usize = 0,

    pub const view_unbound = .{ "run", "last_key", "last_end", "ring" };

    pub fn running(model: *const Model) bool {
        return model.run != null;
    }

    pub fn status(model: *const Model, arena: std.mem.Allocator) []const u8 {
        if (model.running()) return "Status: running";
        const end = model.last_end orelse return "Status: idle";
        return switch (end.reason) {
            .exited => if (end.code == 0)
                "Status: finished"
            else
                std.fmt.allocPrint(arena, "Status: failed with code {d}", .{end.code}) catch "",
            .cancelled => "Status: cancelled",
            .signaled => "Status: killed",
            .rejected, .spawn_failed => "Status: could not start",
        };
    }

    /// The last lines, the oldest first.
    pub fn lines(model: *const Model, arena: std.mem.Allocator) []const Line {
        const count = @min(model.received, max_lines);
        const out = arena.alloc(Line, count) catch return &.{};
        for (out, model.received - count..) |*line, index| line.* = model.ring[index % max_lines];
        return out;
    }

    fn keep(model: *Model, text: []const u8) void {
        const line = &model.ring[model.received % max_lines];
        model.received += 1;
        const cut = cutAt(text, max_line_bytes);
        line.* = .{ .number = model.received, .len = cut.len };
        @memcpy(line.storage[0..cut.len], cut);
    }
};

/// As much of a text as fits, not ending within a character.
fn cutAt(text: []const u8, limit: usize) []const u8 {
    if (text.len <= limit) return text;
    var end = limit;
    while (end > 0 and text[end] & 0xC0 == 0x80) end -= 1;
    return text[0..end];
}

pub fn update(model: *Model, msg: Msg, fx: *Effects) void {
    switch (msg) {
        .start => {
            if (model.running()) return;
            const key = model.last_key + 1;
            model.* = .{ .run = key, .last_key = key };
            fx.spawn(.{
                .key = key,
                .argv = &command,
                .on_line = Effects.lineMsg(.line),
                .on_exit = Effects.exitMsg(.exited),
            });
        },
        .cancel => if (model.run) |key| fx.cancel(key),
        .line => |line| {
            if (line.key != model.run) return;
            model.dropped += line.dropped_before;
            // The bytes are the channel's, and gone after this call.
            model.keep(line.line);
        },
        .exited => |exit| {
            if (exit.key != model.run) return;
            model.run = null;
            model.last_end = .{ .reason = exit.reason, .code = exit.code };
            model.dropped += exit.dropped_lines;
        },
    }
}

fn boot(model: *Model, fx: *Effects) void {
    update(model, .start, fx);
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
        .update_fx = update,
        .init_fx = boot,
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
        .window_title = "Process Monitor",
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
