//! What `uname` says about this machine. The command is run on request, through
//! the effects channel; its one line is taken apart when it has ended.

const std = @import("std");
const runner = @import("runner");
const native_sdk = @import("native_sdk");

pub const panic = std.debug.FullPanic(native_sdk.debug.capturePanic);

const canvas = native_sdk.canvas;
const geometry = native_sdk.geometry;

const canvas_label = "main-canvas";
const window_width: f32 = 480;
const window_height: f32 = 320;

const app_permissions = [_][]const u8{ native_sdk.security.permission_command, native_sdk.security.permission_view };
const shell_views = [_]native_sdk.ShellView{
    .{ .label = canvas_label, .kind = .gpu_surface, .fill = true, .role = "This Machine canvas", .accessibility_label = "This Machine", .gpu_backend = .metal, .gpu_pixel_format = .bgra8_unorm, .gpu_present_mode = .timer, .gpu_alpha_mode = .@"opaque", .gpu_color_space = .srgb, .gpu_vsync = true },
};
const shell_windows = [_]native_sdk.ShellWindow{.{
    .label = "main",
    .title = "This Machine",
    .width = window_width,
    .height = window_height,
    .restore_state = false,
    .views = &shell_views,
}};
const shell_scene: native_sdk.ShellConfig = .{ .windows = &shell_windows };

// ------------------------------------------------------------------ model

pub const Effects = native_sdk.Effects(Msg);

pub const command = [_][]const u8{ "uname", "-snrm" };
const probe_key: u64 = 1;

pub const max_word_bytes = 64;

const Word = struct {
    bytes: [max_word_bytes]u8 = undefined,
    len: usize = 0,

    /// A copy, since what a command prints is gone after the update. Null if it does not fit.
    fn of(bytes: []const u8) ?Word {
        if (bytes.len > max_word_bytes) return null;
        var word: Word = .{ .len = bytes.len };
        @memcpy(word.bytes[0..bytes.len], bytes);
        return word;
    }

    fn text(word: *const Word) []const u8 {
        return word.bytes[0..word.len];
    }
};

/// The four words of a line.
pub const Info = struct {
    system: Word = .{},
    host: Word = .{},
    release: Word = .{},
    machine: Word = .{},

    /// Null for anything but one line of four words.
    pub fn parse(output: []const u8) ?Info {
        const line = std.mem.trim(u8, output, " \t\r\n");
        if (std.mem.indexOfScalar(u8, line, '\n') != null) return null;
        var words = std.mem.tokenizeAny(u8, line, " \t");
        const info: Info = .{
            .system = Word.of(words.next() orelse return null) orelse return null,
            .host = Word.of(words.next() orelse return null) orelse return null,
            .release = Word.of(words.next() orelse return null) orelse return null,
            .machine = Word.of(words.next() orelse return null) orelse return null,
        };
        return if (words.next() == null) info else null;
    }
};

pub const State = enum { idle, probing, ok, failed, never_started, killed, unreadable };

pub const Msg = union(enum) {
    probe,
    probed: native_sdk.EffectExit,

    /// It comes from the effects channel, never from the view.
    pub const view_unbound = .{"probed"};
};

pub const Model = struct {
    state: State = .idle,
    /// Of the last command that ended by itself.
    exit_code: i32 = 0,
    /// The last good reading.
    info: Info = .{},

    pub const view_unbound = .{ "state", "exit_code", "info" };

    pub fn probing(model: *const Model) bool {
        return model.state == .probing;
    }

    pub fn known(model: *const Model) bool {
        return model.info.system.len > 0;
    }

    pub fn system(model: *const Model) []const u8 {
        return model.info.system.text();
    }

    pub fn host(model: *const Model) []const u8 {
        return model.info.host.text();
    }

    pub fn release(model: *const Model) []const u8 {
        return model.info.release.text();
    }

    pub fn machine(model: *const Model) []const u8 {
        return model.info.machine.text();
    }

    pub fn status(model: *const Model, arena: std.mem.Allocator) []const u8 {
        return switch (model.state) {
            .idle => "Not read yet",
            .probing => "Reading",
            .ok => "Up to date",
            .failed => std.fmt.allocPrint(arena, "uname failed with code {d}", .{model.exit_code}) catch "",
            .never_started => "uname could not be started",
            .killed => "uname was stopped before it was done",
            .unreadable => "uname said something unexpected",
        };
    }

    fn finish(model: *Model, exit: native_sdk.EffectExit) void {
        model.state = switch (exit.reason) {
            .exited => model.read(exit),
            .signaled, .cancelled => .killed,
            .rejected, .spawn_failed => .never_started,
        };
    }

    fn read(model: *Model, exit: native_sdk.EffectExit) State {
        model.exit_code = exit.code;
        if (exit.code != 0) return .failed;
        if (exit.output_truncated) return .unreadable;
        model.info = Info.parse(exit.output) orelse return .unreadable;
        return .ok;
    }
};

pub fn update(model: *Model, msg: Msg, fx: *Effects) void {
    switch (msg) {
        .probe => {
            if (model.state == .probing) return;
            model.state = .probing;
            fx.spawn(.{
                .key = probe_key,
                .argv = &command,
                .output = .collect,
                .on_exit = Effects.exitMsg(.probed),
            });
        },
        .probed => |exit| model.finish(exit),
    }
}

pub fn initialModel() Model {
    return .{};
}

// ------------------------------------------------------------------- view

pub const AppUi = canvas.Ui(Msg);
pub const app_markup = @embedFile("app.native");

// -------------------------------------------------------------------- app

const PanelApp = native_sdk.UiApp(Model, Msg);

pub fn main(init: std.process.Init) !void {
    const app_state = try PanelApp.create(std.heap.page_allocator, .{
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
        .window_title = "This Machine",
        .bundle_id = "dev.native_sdk.app",
        .icon_path = "assets/icon.png",
        .default_frame = geometry.RectF.init(0, 0, window_width, window_height),
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
