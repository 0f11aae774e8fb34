//! A release on its way through five stages. The history is the model: the stage
//! that the release is in is the one that the last event led to.

const std = @import("std");
const runner = @import("runner");
const native_sdk = @import("native_sdk");

pub const panic = std.debug.FullPanic(native_sdk.debug.capturePanic);

const canvas = native_sdk.canvas;
const geometry = native_sdk.geometry;

pub const canvas_label = "main-canvas";
pub const window_size = geometry.SizeF.init(1200, 640);
/// The smallest window; tests.zig shows that everything fits in it. It is this wide
/// for the lines between the stages: a line that is shorter than 160 points is
/// drawn upright. It is this wide
/// for the lines between the stages: a line that is shorter than 160 points is
/// drawn upright.
pub const window_min_size = geometry.SizeF.init(1120, 480);

const app_permissions = [_][]const u8{ native_sdk.security.permission_command, native_sdk.security.permission_view };
const shell_views = [_]native_sdk.ShellView{
    .{ .label = canvas_label, .kind = .gpu_surface, .fill = true, .role = "Release Dashboard canvas", .accessibility_label = "Release Dashboard", .gpu_backend = .metal, .gpu_pixel_format = .bgra8_unorm, .gpu_present_mode = .timer, .gpu_alpha_mode = .@"opaque", .gpu_color_space = .srgb, .gpu_vsync = true },
};
const shell_windows = [_]native_sdk.ShellWindow{.{
    .label = "main",
    .title = "Release Dashboard",
    .width = window_size.width,
    .height = window_size.height,
    .min_width = window_min_size.width,
    .min_height = window_min_size.height,
    .restore_state = false,
    .views = &shell_views,
}};
const shell_scene: native_sdk.ShellConfig = .{ .windows = &shell_windows };

// ------------------------------------------------------------------ model

pub const Stage = enum {
    build,
    verify,
    canary,
    ramp,
    live,

    pub fn name(stage: Stage) []const u8 {
        return switch (stage) {
            .build => "Build",
            .verify => "Verify",
            .canary => "Canary",
            .ramp => "Ramp",
            .live => "Live",
        };
    }

    fn meaning(stage: Stage) []const u8 {
        return switch (stage) {
            .build => "Compiling and signing the packages",
            .verify => "Running the acceptance tests",
            .canary => "Serving one request in twenty",
            .ramp => "Serving half of all requests",
            .live => "Serving everybody",
        };
    }

    fn next(stage: Stage) ?Stage {
        const stages = std.enums.values(Stage);
        const index: usize = @intFromEnum(stage);
        return if (index + 1 < stages.len) stages[index + 1] else null;
    }

    fn previous(stage: Stage) ?Stage {
        const index: usize = @intFromEnum(stage);
        return if (index > 0) std.enums.values(Stage)[index - 1] else null;
    }
};

pub const Kind = enum { entered, rolled_back };

pub const Event = struct { id: u32 = 0, kind: Kind = .entered, stage: Stage = .build };

/// An event as the view shows it.
pub const Entry = struct {
    id: u32,
    title: []const u8,
    description: []const u8,
    tone: canvas.WidgetVariant,
    /// Whether another event follows.
    connected: bool,
};

pub const Msg = union(enum) {
    advance,
    roll_back,
};

/// The history keeps its last events. An event takes about nine of the 1024
/// widgets of a view.
pub const max_events = 40;

pub const Model = struct {
    events: [max_events]Event = @splat(.{}),
    event_count: usize = 0,
    next_id: u32 = 1,

    pub const view_unbound = .{ "events", "event_count", "next_id", "stage", "history" };

    pub fn stage(model: *const Model) Stage {
        const events = model.history();
        return events[events.len - 1].stage;
    }

    pub fn stageIndex(model: *const Model) usize {
        return @intFromEnum(model.stage());
    }

    pub fn stageMeaning(model: *const Model) []const u8 {
        return model.stage().meaning();
    }

    pub fn atFirst(model: *const Model) bool {
        return model.stage().previous() == null;
    }

    pub fn atLast(model: *const Model) bool {
        return model.stage().next() == null;
    }

    pub fn entries(model: *const Model, arena: std.mem.Allocator) []const Entry {
        const events = model.history();
        const out = arena.alloc(Entry, events.len) catch return &.{};
        for (out, events, 1..) |*entry, event, number| {
            const of = event.stage.name();
            entry.* = .{
                .id = event.id,
                .title = switch (event.kind) {
                    .entered => std.fmt.allocPrint(arena, "{s} started", .{of}) catch "",
                    .rolled_back => std.fmt.allocPrint(arena, "Rolled back to {s}", .{of}) catch "",
                },
                .description = event.stage.meaning(),
                .tone = if (event.kind == .rolled_back) .destructive else .primary,
                .connected = number < events.len,
            };
        }
        return out;
    }

    pub fn notes(_: *const Model) []const u8 {
        return release_notes;
    }

    pub fn summary(model: *const Model, arena: std.mem.Allocator) []const u8 {
        const now = model.stage();
        const number = model.stageIndex() + 1;
        return std.fmt.allocPrint(arena, "Release 4.2: {s}, stage {d} of {d}", .{ now.name(), number, std.enums.values(Stage).len }) catch "";
    }

    pub fn history(model: *const Model) []const Event {
        return model.events[0..model.event_count];
    }

    /// Adds an event; of a full history the oldest one goes.
    fn record(model: *Model, kind: Kind, to: Stage) void {
        if (model.event_count == max_events) {
            std.mem.copyForwards(Event, model.events[0 .. max_events - 1], model.events[1..]);
            model.event_count -= 1;
        }
        model.events[model.event_count] = .{ .id = model.next_id, .kind = kind, .stage = to };
        model.event_count += 1;
        model.next_id += 1;
    }
};

const release_notes = @embedFile("notes.md");

pub fn update(model: *Model, msg: Msg) void {
    switch (msg) {
        .advance => if (model.stage().next()) |next| model.record(.entered, next),
        .roll_back => if (model.event_count > 1) {
            model.event_count -= 1;
        },
    }
}

pub fn initialModel() Model {
    var model: Model = .{};
    for ([_]Stage{ .build, .verify }) |stage| model.record(.entered, stage);
    return model;
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
        .update = update,
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
        .window_title = "Release Dashboard",
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
