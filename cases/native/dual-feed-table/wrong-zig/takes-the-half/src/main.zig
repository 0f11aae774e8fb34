//! A feed of stories, fetched on request and shown in one of two orders.

const std = @import("std");
const runner = @import("runner");
const native_sdk = @import("native_sdk");

pub const panic = std.debug.FullPanic(native_sdk.debug.capturePanic);

const canvas = native_sdk.canvas;
const geometry = native_sdk.geometry;

const canvas_label = "main-canvas";
const window_width: f32 = 640;
const window_height: f32 = 480;

const app_permissions = [_][]const u8{ native_sdk.security.permission_command, native_sdk.security.permission_view };
const shell_views = [_]native_sdk.ShellView{
    .{ .label = canvas_label, .kind = .gpu_surface, .fill = true, .role = "Stories canvas", .accessibility_label = "Stories", .gpu_backend = .metal, .gpu_pixel_format = .bgra8_unorm, .gpu_present_mode = .timer, .gpu_alpha_mode = .@"opaque", .gpu_color_space = .srgb, .gpu_vsync = true },
};
const shell_windows = [_]native_sdk.ShellWindow{.{
    .label = "main",
    .title = "Stories",
    .width = window_width,
    .height = window_height,
    .restore_state = false,
    .views = &shell_views,
}};
const shell_scene: native_sdk.ShellConfig = .{ .windows = &shell_windows };

// ------------------------------------------------------------------ model

pub const Effects = native_sdk.Effects(Msg);

pub const feed_url = "https://feed.example.com/v1/stories.json";
const feed_key: u64 = 1;

pub const max_stories = 40;
pub const max_title_bytes = 120;

pub const Story = struct {
    id: u32 = 0,
    score: u32 = 0,
    comments: u32 = 0,
    title_bytes: [max_title_bytes]u8 = undefined,
    title_len: usize = 0,

    pub fn title(story: *const Story) []const u8 {
        return story.title_bytes[0..story.title_len];
    }
};

/// What one answer held, as it came.
pub const Feed = struct {
    stories: [max_stories]Story = undefined,
    count: usize = 0,

    /// An error for anything but a whole feed. The titles are copied: a body is gone after the update.
    pub fn parse(body: []const u8) !Feed {
        const Object = struct { id: u32, title: []const u8, score: u32, comments: u32 };
        var memory: [64 * 1024]u8 = undefined;
        var allocator: std.heap.FixedBufferAllocator = .init(&memory);
        const objects = try std.json.parseFromSliceLeaky([]const Object, allocator.allocator(), body, .{});
        if (objects.len > max_stories) return error.TooManyStories;
        var feed: Feed = .{ .count = objects.len };
        for (objects, feed.stories[0..objects.len]) |object, *story| {
            if (object.title.len > max_title_bytes) return error.TitleTooLong;
            story.* = .{ .id = object.id, .score = object.score, .comments = object.comments, .title_len = object.title.len };
            @memcpy(story.title_bytes[0..object.title.len], object.title);
        }
        return feed;
    }
};

pub const Order = enum { score, title };
pub const State = enum { idle, loading, loaded, empty, failed };
pub const Problem = union(enum) { status: u16, unreadable, no_answer };

pub const Msg = union(enum) {
    refresh,
    sort_by: Order,
    fetched: native_sdk.EffectResponse,

    /// It comes from the effects channel, never from the view.
    pub const view_unbound = .{"fetched"};
};

pub const Model = struct {
    state: State = .idle,
    /// Why it failed; looked at in that state alone.
    problem: Problem = .no_answer,
    /// Of the last good answer.
    feed: Feed = .{},
    order: Order = .score,

    pub const orders = std.enums.values(Order);

    pub const view_unbound = .{ "state", "problem", "feed" };

    pub fn loading(model: *const Model) bool {
        return model.state == .loading;
    }

    pub fn hasRows(model: *const Model) bool {
        return model.feed.count > 0;
    }

    /// The stories in the order that holds. Equal ones stay as they came: the sort is stable.
    pub fn rows(model: *const Model, arena: std.mem.Allocator) []const Story {
        const out = arena.dupe(Story, model.feed.stories[0..model.feed.count]) catch return &.{};
        std.mem.sort(Story, out, model.order, before);
        return out;
    }

    pub fn status(model: *const Model, arena: std.mem.Allocator) []const u8 {
        return switch (model.state) {
            .idle => "Nothing loaded yet",
            .loading => "Loading",
            .loaded => if (model.feed.count == 1)
                "1 story"
            else
                std.fmt.allocPrint(arena, "{d} stories", .{model.feed.count}) catch "",
            .empty => "The feed is empty",
            .failed => switch (model.problem) {
                .status => |code| std.fmt.allocPrint(arena, "Could not load: status {d}", .{code}) catch "",
                .unreadable => "Could not load: unreadable answer",
                .no_answer => "Could not load: no answer",
            },
        };
    }

    fn take(model: *Model, response: native_sdk.EffectResponse) void {
        if (response.outcome != .ok) return model.fail(.no_answer);
        if (response.status != 200) return model.fail(.{ .status = response.status });
        model.feed = Feed.parse(response.body) catch return model.fail(.unreadable);
        model.state = if (model.feed.count == 0) .empty else .loaded;
    }

    fn fail(model: *Model, problem: Problem) void {
        model.state = .failed;
        model.problem = problem;
    }
};

fn before(order: Order, a: Story, b: Story) bool {
    return switch (order) {
        .score => a.score > b.score,
        .title => std.ascii.lessThanIgnoreCase(a.title(), b.title()),
    };
}

pub fn update(model: *Model, msg: Msg, fx: *Effects) void {
    switch (msg) {
        .refresh => {
            if (model.state == .loading) return;
            model.state = .loading;
            fx.fetch(.{
                .key = feed_key,
                .url = feed_url,
                .on_response = Effects.responseMsg(.fetched),
            });
        },
        .sort_by => |order| model.order = order,
        .fetched => |response| model.take(response),
    }
}

pub fn initialModel() Model {
    return .{};
}

// ------------------------------------------------------------------- view

pub const AppUi = canvas.Ui(Msg);
pub const app_markup = @embedFile("app.native");

// -------------------------------------------------------------------- app

const StoriesApp = native_sdk.UiApp(Model, Msg);

pub fn main(init: std.process.Init) !void {
    const app_state = try StoriesApp.create(std.heap.page_allocator, .{
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
        .window_title = "Stories",
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
