//! A traffic dashboard: `Model`, `Msg` and `update`. The view is `app.native`.
//!
//! The model keeps the recent samples and where the feed stands. Everything
//! that the dashboard says about them is computed when the view is built.

const std = @import("std");
const runner = @import("runner");
const native_sdk = @import("native_sdk");

pub const panic = std.debug.FullPanic(native_sdk.debug.capturePanic);

const canvas = native_sdk.canvas;
const geometry = native_sdk.geometry;

pub const canvas_label = "main-canvas";
pub const window_size = geometry.SizeF.init(720, 480);
/// The floor that tests.zig proves: header, chart and status still fit.
pub const window_min_size = geometry.SizeF.init(520, 320);

const app_permissions = [_][]const u8{ native_sdk.security.permission_command, native_sdk.security.permission_view };
const shell_views = [_]native_sdk.ShellView{
    .{ .label = canvas_label, .kind = .gpu_surface, .fill = true, .role = "Metrics canvas", .accessibility_label = "Traffic metrics", .gpu_backend = .metal, .gpu_pixel_format = .bgra8_unorm, .gpu_present_mode = .timer, .gpu_alpha_mode = .@"opaque", .gpu_color_space = .srgb, .gpu_vsync = true },
};
const shell_windows = [_]native_sdk.ShellWindow{.{
    .label = "main",
    .title = "Traffic Metrics",
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
    take_sample,
    reset,
};

/// What the service answered before the dashboard was opened, oldest first.
pub const seeded = [_]u16{ 132, 48, 55, 51, 60, 72, 68, 75, 90, 84, 79, 88 };
/// What the feed hands out, one value a sample, from the start again at its end.
pub const feed = [_]u16{ 94, 101, 87, 110 };
/// How many samples are kept. The oldest makes room for a new one.
pub const window_len = 16;

pub const Model = struct {
    /// Oldest first.
    samples: [window_len]u16 = @splat(0),
    count: usize = 0,
    /// Which value of `feed` comes next.
    feed_index: usize = 0,

    /// The view reads these through the functions below, never by name.
    pub const view_unbound = .{ "samples", "feed_index", "kept" };

    // What the view binds.

    /// The chart takes `f32` samples; the model counts whole requests.
    pub fn series(model: *const Model, arena: std.mem.Allocator) []const f32 {
        const out = arena.alloc(f32, model.count) catch return &.{};
        for (out, model.kept()) |*value, sample| value.* = @floatFromInt(sample);
        return out;
    }

    pub fn latest(model: *const Model) u16 {
        return if (model.count == 0) 0 else model.samples[model.count - 1];
    }

    /// Of the samples that are kept: a peak that scrolled out is no peak.
    pub fn peak(model: *const Model) u16 {
        return if (model.count == 0) 0 else std.mem.max(u16, model.kept());
    }

    pub fn limit(_: *const Model) u16 {
        return 100;
    }

    pub fn overLimit(model: *const Model) usize {
        var over: usize = 0;
        for (model.kept()) |sample| over += @intFromBool(sample > model.limit());
        return over;
    }

    pub fn trend(model: *const Model, arena: std.mem.Allocator) []const u8 {
        if (model.count < 2) return "No earlier sample to compare with";
        const before: i32 = model.samples[model.count - 2];
        const change = @as(i32, model.latest()) - before;
        if (change == 0) return "Level with the sample before";
        const direction = if (change > 0) "Up" else "Down";
        return std.fmt.allocPrint(arena, "{s} {d} from the sample before", .{ direction, @abs(change) }) catch "";
    }

    // Queries and steps for `update` and the tests.

    pub fn kept(model: *const Model) []const u16 {
        return model.samples[0..model.count];
    }

    fn append(model: *Model, sample: u16) void {
        if (model.count == window_len) {
            std.mem.copyForwards(u16, model.samples[0 .. window_len - 1], model.samples[1..]);
            model.count -= 1;
        }
        model.samples[model.count] = sample;
        model.count += 1;
    }
};

pub fn update(model: *Model, msg: Msg) void {
    switch (msg) {
        .take_sample => {
            model.append(feed[model.feed_index]);
            model.feed_index = (model.feed_index + 1) % feed.len;
        },
        .reset => model.* = initialModel(),
    }
}

pub fn initialModel() Model {
    var model: Model = .{};
    for (seeded) |sample| model.append(sample);
    return model;
}

// ------------------------------------------------------------- view and app

pub const AppUi = canvas.Ui(Msg);
pub const app_markup = @embedFile("app.native");

pub const MetricsApp = native_sdk.UiApp(Model, Msg);

/// One set of options for the real app and for the tests that run it headless.
pub fn appOptions() MetricsApp.Options {
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

    const app_state = try MetricsApp.create(std.heap.page_allocator, options);
    defer app_state.destroy();
    app_state.model = initialModel();

    try runner.runWithOptions(app_state.app(), .{
        .app_name = "app",
        .window_title = "Traffic Metrics",
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
