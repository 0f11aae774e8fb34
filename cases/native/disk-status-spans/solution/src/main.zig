//! Disk status in one paragraph: `Model`, `Msg` and `update`. The view, and with
//! it the look of the paragraph's parts, is `app.native`.

const std = @import("std");
const runner = @import("runner");
const native_sdk = @import("native_sdk");

pub const panic = std.debug.FullPanic(native_sdk.debug.capturePanic);

const canvas = native_sdk.canvas;
const geometry = native_sdk.geometry;

pub const canvas_label = "main-canvas";
pub const window_size = geometry.SizeF.init(480, 320);
/// The floor that tests.zig proves: the paragraph wraps, and the buttons still fit.
pub const window_min_size = geometry.SizeF.init(420, 280);

const app_permissions = [_][]const u8{ native_sdk.security.permission_command, native_sdk.security.permission_view };
const shell_views = [_]native_sdk.ShellView{
    .{ .label = canvas_label, .kind = .gpu_surface, .fill = true, .role = "Disk status canvas", .accessibility_label = "Disk status", .gpu_backend = .metal, .gpu_pixel_format = .bgra8_unorm, .gpu_present_mode = .timer, .gpu_alpha_mode = .@"opaque", .gpu_color_space = .srgb, .gpu_vsync = true },
};
const shell_windows = [_]native_sdk.ShellWindow{.{
    .label = "main",
    .title = "Disk Status",
    .width = window_size.width,
    .height = window_size.height,
    .min_width = window_min_size.width,
    .min_height = window_min_size.height,
    .restore_state = false,
    .views = &shell_views,
}};
const shell_scene: native_sdk.ShellConfig = .{ .windows = &shell_windows };

// ------------------------------------------------------------------ model

pub const Disk = struct {
    mount: []const u8,
    used_gb: u32,
    total_gb: u32,
};

pub const Msg = union(enum) {
    fill,
    free,
    next_disk,
};

/// What one press of "Fill" or "Free" moves.
pub const step_gb = 32;

const seeded = [_]Disk{
    .{ .mount = "/data", .used_gb = 384, .total_gb = 512 },
    .{ .mount = "/backup", .used_gb = 960, .total_gb = 1024 },
    .{ .mount = "/scratch", .used_gb = 0, .total_gb = 256 },
};

pub const Model = struct {
    disks: [seeded.len]Disk = seeded,
    /// Which of the disks is shown.
    shown: usize = 0,

    /// The view reads these through the functions below, never by name.
    pub const view_unbound = .{ "disks", "shown", "disk" };

    // What the view binds. The disk keeps two figures; the others follow.

    pub fn used(model: *const Model) u32 {
        return model.disk().used_gb;
    }

    pub fn total(model: *const Model) u32 {
        return model.disk().total_gb;
    }

    pub fn unused(model: *const Model) u32 {
        return model.total() - model.used();
    }

    pub fn mount(model: *const Model) []const u8 {
        return model.disk().mount;
    }

    /// To the nearest whole percent.
    pub fn percentUsed(model: *const Model) u32 {
        return (model.used() * 100 + model.total() / 2) / model.total();
    }

    pub fn step(_: *const Model) u32 {
        return step_gb;
    }

    pub fn position(model: *const Model) usize {
        return model.shown + 1;
    }

    pub fn diskCount(model: *const Model) usize {
        return model.disks.len;
    }

    /// The rules for both buttons: `update` obeys them, and the buttons show them.
    pub fn canFill(model: *const Model) bool {
        return model.unused() >= step_gb;
    }

    pub fn canFree(model: *const Model) bool {
        return model.used() >= step_gb;
    }

    pub fn disk(model: *const Model) *const Disk {
        return &model.disks[model.shown];
    }
};

pub fn update(model: *Model, msg: Msg) void {
    switch (msg) {
        .fill => if (model.canFill()) {
            model.disks[model.shown].used_gb += step_gb;
        },
        .free => if (model.canFree()) {
            model.disks[model.shown].used_gb -= step_gb;
        },
        .next_disk => model.shown = (model.shown + 1) % model.disks.len,
    }
}

pub fn initialModel() Model {
    return .{};
}

// ------------------------------------------------------------- view and app

pub const AppUi = canvas.Ui(Msg);
pub const app_markup = @embedFile("app.native");

pub const DiskApp = native_sdk.UiApp(Model, Msg);

/// One set of options for the real app and for the tests that run it headless.
pub fn appOptions() DiskApp.Options {
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

    const app_state = try DiskApp.create(std.heap.page_allocator, options);
    defer app_state.destroy();
    app_state.model = initialModel();

    try runner.runWithOptions(app_state.app(), .{
        .app_name = "app",
        .window_title = "Disk Status",
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
