//! Phases of focus and rest, one after the other, on a timer of a second that
//! exists while a phase runs.

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
    .{ .label = canvas_label, .kind = .gpu_surface, .fill = true, .role = "Pomodoro canvas", .accessibility_label = "Pomodoro", .gpu_backend = .metal, .gpu_pixel_format = .bgra8_unorm, .gpu_present_mode = .timer, .gpu_alpha_mode = .@"opaque", .gpu_color_space = .srgb, .gpu_vsync = true },
};
const shell_windows = [_]native_sdk.ShellWindow{.{
    .label = "main",
    .title = "Pomodoro",
    .width = window_width,
    .height = window_height,
    .restore_state = false,
    .views = &shell_views,
}};
const shell_scene: native_sdk.ShellConfig = .{ .windows = &shell_windows };

// ------------------------------------------------------------------ model

pub const Effects = native_sdk.Effects(Msg);

pub const chime_path = "assets/chime.wav";
const second_key: u64 = 1;
const chime_key: u64 = 2;

pub const Phase = enum {
    focus,
    rest,

    pub fn seconds(phase: Phase) u32 {
        return switch (phase) {
            .focus => 25 * 60,
            .rest => 5 * 60,
        };
    }

    fn other(phase: Phase) Phase {
        return if (phase == .focus) .rest else .focus;
    }
};

pub const Msg = union(enum) {
    start,
    pause,
    skip,
    reset,
    tick: native_sdk.EffectTimer,
    chime: native_sdk.EffectAudio,

    /// These come from the effects channel, never from the view.
    pub const view_unbound = .{ "tick", "chime" };
};

pub const Model = struct {
    phase: Phase = .focus,
    running: bool = false,
    /// Seconds that are left of the phase.
    remaining: u32 = Phase.focus.seconds(),
    /// Focus phases that came to their end.
    completed: u32 = 0,

    pub const view_unbound = .{ "phase", "remaining" };

    pub fn phaseName(model: *const Model) []const u8 {
        return switch (model.phase) {
            .focus => "Focus",
            .rest => "Rest",
        };
    }

    pub fn clock(model: *const Model, arena: std.mem.Allocator) []const u8 {
        return std.fmt.allocPrint(arena, "{d:0>2}:{d:0>2}", .{ model.remaining / 60, model.remaining % 60 }) catch "";
    }

    /// How much of the phase is over, from 0 to 1.
    pub fn progress(model: *const Model) f32 {
        const full: f32 = @floatFromInt(model.phase.seconds());
        return 1 - @as(f32, @floatFromInt(model.remaining)) / full;
    }

    pub fn summary(model: *const Model, arena: std.mem.Allocator) []const u8 {
        const noun = if (model.completed == 1) "phase" else "phases";
        return std.fmt.allocPrint(arena, "{d} focus {s} done", .{ model.completed, noun }) catch "";
    }

    fn begin(model: *Model, phase: Phase) void {
        model.phase = phase;
        model.remaining = phase.seconds();
    }

    /// The timer exists while a phase runs.
    fn run(model: *Model, running: bool, fx: *Effects) void {
        if (model.running == running) return;
        model.running = running;
        if (running) {
            fx.startTimer(.{
                .key = second_key,
                .interval_ms = std.time.ms_per_s,
                .mode = .repeating,
                .on_fire = Effects.timerMsg(.tick),
            });
        }
    }

    fn second(model: *Model, fx: *Effects) void {
        model.remaining -= 1;
        if (model.remaining > 0) return;
        if (model.phase == .focus) model.completed += 1;
        model.begin(model.phase.other());
        fx.playAudio(.{
            .key = chime_key,
            .path = chime_path,
            .on_event = Effects.audioMsg(.chime),
        });
    }
};

pub fn update(model: *Model, msg: Msg, fx: *Effects) void {
    switch (msg) {
        .start => model.run(true, fx),
        .pause => model.run(false, fx),
        .skip => model.begin(model.phase.other()),
        .reset => {
            model.run(false, fx);
            model.begin(.focus);
        },
        .tick => |timer| switch (timer.outcome) {
            // One may still be on its way when its timer is cancelled.
            .fired => if (model.running) model.second(fx),
            .rejected => model.running = false,
        },
        // Heard or not, the timer goes on.
        .chime => {},
    }
}

pub fn initialModel() Model {
    return .{};
}

// ------------------------------------------------------------------- view

pub const AppUi = canvas.Ui(Msg);
pub const app_markup = @embedFile("app.native");

// -------------------------------------------------------------------- app

const PomodoroApp = native_sdk.UiApp(Model, Msg);

pub fn main(init: std.process.Init) !void {
    const app_state = try PomodoroApp.create(std.heap.page_allocator, .{
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
        .window_title = "Pomodoro",
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
