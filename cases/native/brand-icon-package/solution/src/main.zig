//! Lumen, a lamp on the screen: `Model`, `Msg` and `update`. The view is
//! `app.native`. What the app is called and what it looks like from outside is
//! in app.zon, from which `native package` makes bundles.

const std = @import("std");
const runner = @import("runner");
const native_sdk = @import("native_sdk");

pub const panic = std.debug.FullPanic(native_sdk.debug.capturePanic);

const canvas = native_sdk.canvas;
const geometry = native_sdk.geometry;

pub const canvas_label = "main-canvas";
pub const window_size = geometry.SizeF.init(420, 280);
/// The floor that tests.zig proves: both buttons and the status still fit.
pub const window_min_size = geometry.SizeF.init(380, 240);

const app_permissions = [_][]const u8{ native_sdk.security.permission_command, native_sdk.security.permission_view };
const shell_views = [_]native_sdk.ShellView{
    .{ .label = canvas_label, .kind = .gpu_surface, .fill = true, .role = "Lamp canvas", .accessibility_label = "Lamp", .gpu_backend = .metal, .gpu_pixel_format = .bgra8_unorm, .gpu_present_mode = .timer, .gpu_alpha_mode = .@"opaque", .gpu_color_space = .srgb, .gpu_vsync = true },
};
const shell_windows = [_]native_sdk.ShellWindow{.{
    .label = "main",
    .title = "Lumen",
    .width = window_size.width,
    .height = window_size.height,
    .min_width = window_min_size.width,
    .min_height = window_min_size.height,
    .restore_state = false,
    .views = &shell_views,
}};
const shell_scene: native_sdk.ShellConfig = .{ .windows = &shell_windows };

// ------------------------------------------------------------------ model

pub const Msg = union(enum) {
    dim,
    brighten,
};

const brightest = 5;

pub const Model = struct {
    level: u8 = 3,

    pub fn steps(_: *const Model) u8 {
        return brightest;
    }

    pub fn atDarkest(model: *const Model) bool {
        return model.level == 0;
    }

    pub fn atBrightest(model: *const Model) bool {
        return model.level == brightest;
    }
};

pub fn update(model: *Model, msg: Msg) void {
    switch (msg) {
        .dim => if (!model.atDarkest()) {
            model.level -= 1;
        },
        .brighten => if (!model.atBrightest()) {
            model.level += 1;
        },
    }
}

pub fn initialModel() Model {
    return .{};
}

// ------------------------------------------------------------- view and app

pub const AppUi = canvas.Ui(Msg);
pub const app_markup = @embedFile("app.native");

pub const LampApp = native_sdk.UiApp(Model, Msg);

/// One set of options for the real app and for the tests that run it headless.
pub fn appOptions() LampApp.Options {
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

    const app_state = try LampApp.create(std.heap.page_allocator, options);
    defer app_state.destroy();
    app_state.model = initialModel();

    try runner.runWithOptions(app_state.app(), .{
        .app_name = "app",
        .window_title = "Lumen",
        .bundle_id = "com.example.lumen",
        .icon_path = "assets/brand/mark.png",
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
