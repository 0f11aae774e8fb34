//! A playlist: `Model`, `Msg`, `update`, and what keys do that no widget takes.
//! The view, with what a row does, is `app.native`.

const std = @import("std");
const runner = @import("runner");
const native_sdk = @import("native_sdk");

pub const panic = std.debug.FullPanic(native_sdk.debug.capturePanic);

const canvas = native_sdk.canvas;
const geometry = native_sdk.geometry;

pub const canvas_label = "main-canvas";
pub const window_size = geometry.SizeF.init(480, 440);
/// The floor that tests.zig proves: header, rows and status still fit.
pub const window_min_size = geometry.SizeF.init(360, 320);

const app_permissions = [_][]const u8{ native_sdk.security.permission_command, native_sdk.security.permission_view };
const shell_views = [_]native_sdk.ShellView{
    .{ .label = canvas_label, .kind = .gpu_surface, .fill = true, .role = "Playlist canvas", .accessibility_label = "Playlist", .gpu_backend = .metal, .gpu_pixel_format = .bgra8_unorm, .gpu_present_mode = .timer, .gpu_alpha_mode = .@"opaque", .gpu_color_space = .srgb, .gpu_vsync = true },
};
const shell_windows = [_]native_sdk.ShellWindow{.{
    .label = "main",
    .title = "Playlist",
    .width = window_size.width,
    .height = window_size.height,
    .min_width = window_min_size.width,
    .min_height = window_min_size.height,
    .restore_state = false,
    .views = &shell_views,
}};
const shell_scene: native_sdk.ShellConfig = .{ .windows = &shell_windows };

// ------------------------------------------------------------------ model

pub const Track = struct {
    id: u32,
    title: []const u8,
    seconds: u32,

    pub fn length(track: *const Track, arena: std.mem.Allocator) []const u8 {
        return std.fmt.allocPrint(arena, "{d}:{d:0>2}", .{ track.seconds / 60, track.seconds % 60 }) catch "";
    }
};

const seeded = [_]Track{
    .{ .id = 1, .title = "Morning Fog", .seconds = 214 },
    .{ .id = 2, .title = "Paper Boats", .seconds = 187 },
    .{ .id = 3, .title = "Night Tram", .seconds = 305 },
    .{ .id = 4, .title = "Salt and Cedar", .seconds = 242 },
    .{ .id = 5, .title = "Last Ferry", .seconds = 268 },
};

pub const Msg = union(enum) {
    select: u32,
    select_next,
    select_previous,
    /// From the beginning, whatever was going on.
    play: u32,
    toggle_playing,

    /// Keys alone send these.
    pub const view_unbound = .{ "select_next", "select_previous" };
};

pub const Model = struct {
    tracks: [seeded.len]Track = seeded,
    selected: u32 = seeded[0].id,
    /// The track that plays or is paused; 0 before the first one.
    current: u32 = 0,
    playing: bool = false,

    /// The view shows it by its words.
    pub const view_unbound = .{"playing"};

    // What the view binds.

    pub fn hasCurrent(model: *const Model) bool {
        return model.indexOf(model.current) != null;
    }

    pub fn transportVerb(model: *const Model) []const u8 {
        return if (model.playing) "Pause" else "Resume";
    }

    pub fn stateWord(model: *const Model) []const u8 {
        return if (model.playing) "playing" else "paused";
    }

    pub fn status(model: *const Model, arena: std.mem.Allocator) []const u8 {
        const index = model.indexOf(model.current) orelse
            return std.fmt.allocPrint(arena, "Stopped, {d} tracks", .{model.tracks.len}) catch "";
        const state = if (model.playing) "Playing" else "Paused";
        return std.fmt.allocPrint(arena, "{s}: {s}", .{ state, model.tracks[index].title }) catch "";
    }

    // Queries and steps for `update`.

    fn indexOf(model: *const Model, id: u32) ?usize {
        for (model.tracks, 0..) |track, index| {
            if (track.id == id) return index;
        }
        return null;
    }

    /// Moves the selection by one row and stays at the ends.
    fn step(model: *Model, direction: enum { next, previous }) void {
        const index = model.indexOf(model.selected) orelse return;
        const to = switch (direction) {
            .next => @min(index + 1, model.tracks.len - 1),
            .previous => index -| 1,
        };
        model.selected = model.tracks[to].id;
    }
};

pub fn update(model: *Model, msg: Msg) void {
    switch (msg) {
        .select => |id| {
            update(model, .{ .play = id });
        },
        .select_next => model.step(.next),
        .select_previous => model.step(.previous),
        .play => |id| {
            if (model.indexOf(id) == null) return;
            model.selected = id;
            model.current = id;
            model.playing = true;
        },
        .toggle_playing => {
            // Where nothing has played yet, there is only one thing to mean.
            if (!model.hasCurrent()) return update(model, .{ .play = model.selected });
            model.playing = !model.playing;
        },
    }
}

/// The keys of the whole app: they arrive here where no focused widget takes
/// them. A row that has the keyboard's focus takes Space and Enter itself.
pub fn onKey(keyboard: canvas.WidgetKeyboardEvent) ?Msg {
    if (keyboard.modifiers.hasNavigationModifier() or keyboard.modifiers.shift) return null;
    if (std.ascii.eqlIgnoreCase(keyboard.key, "space")) return .toggle_playing;
    if (std.ascii.eqlIgnoreCase(keyboard.key, "arrowdown")) return .select_next;
    if (std.ascii.eqlIgnoreCase(keyboard.key, "arrowup")) return .select_previous;
    return null;
}

pub fn initialModel() Model {
    return .{};
}

// ------------------------------------------------------------- view and app

pub const AppUi = canvas.Ui(Msg);
pub const app_markup = @embedFile("app.native");

pub const PlaylistApp = native_sdk.UiApp(Model, Msg);

/// One set of options for the real app and for the tests that run it headless.
pub fn appOptions() PlaylistApp.Options {
    return .{
        .name = "app",
        .scene = shell_scene,
        .canvas_label = canvas_label,
        .update = update,
        .on_key = onKey,
        .markup = .{ .source = app_markup },
    };
}

pub fn main(init: std.process.Init) !void {
    var options = appOptions();
    // Hot reload needs a file system, which only the real app has.
    options.markup = .{ .source = app_markup, .watch_path = "src/app.native", .io = init.io };

    const app_state = try PlaylistApp.create(std.heap.page_allocator, options);
    defer app_state.destroy();
    app_state.model = initialModel();

    try runner.runWithOptions(app_state.app(), .{
        .app_name = "app",
        .window_title = "Playlist",
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
