//! A task list with an inspector in a second window: `Model`, `Msg`, `update`
//! and the declaration of the windows. The views are `app.native` (the main
//! window) and `inspector.native` (the inspector).
//!
//! Which windows exist follows from the model: `windows` declares the inspector
//! while `inspector_open` holds, and the runtime opens and closes it accordingly.

const std = @import("std");
const runner = @import("runner");
const native_sdk = @import("native_sdk");

pub const panic = std.debug.FullPanic(native_sdk.debug.capturePanic);

const canvas = native_sdk.canvas;
const geometry = native_sdk.geometry;

pub const canvas_label = "main-canvas";
pub const window_size = geometry.SizeF.init(480, 420);
/// The floors that tests.zig proves for both windows.
pub const window_min_size = geometry.SizeF.init(360, 320);
pub const inspector_label = "inspector";
pub const inspector_canvas_label = "inspector-canvas";
pub const inspector_size = geometry.SizeF.init(320, 280);
pub const inspector_min_size = geometry.SizeF.init(260, 220);

const app_permissions = [_][]const u8{ native_sdk.security.permission_command, native_sdk.security.permission_view };
const shell_views = [_]native_sdk.ShellView{
    .{ .label = canvas_label, .kind = .gpu_surface, .fill = true, .role = "Task list canvas", .accessibility_label = "Tasks", .gpu_backend = .metal, .gpu_pixel_format = .bgra8_unorm, .gpu_present_mode = .timer, .gpu_alpha_mode = .@"opaque", .gpu_color_space = .srgb, .gpu_vsync = true },
};
const shell_windows = [_]native_sdk.ShellWindow{.{
    .label = "main",
    .title = "Tasks",
    .width = window_size.width,
    .height = window_size.height,
    .min_width = window_min_size.width,
    .min_height = window_min_size.height,
    .restore_state = false,
    .views = &shell_views,
}};
const shell_scene: native_sdk.ShellConfig = .{ .windows = &shell_windows };

// ------------------------------------------------------------------ model

pub const Task = struct {
    id: u32,
    title: []const u8,
    owner: []const u8,
    note: []const u8,
    done: bool = false,
};

pub const Msg = union(enum) {
    select: u32,
    toggle_done,
    toggle_inspector,
    /// The user closed the inspector by the window's own close button.
    inspector_closed,

    /// Sent by the runtime, from the window's declaration.
    pub const view_unbound = .{"inspector_closed"};
};

pub const Model = struct {
    tasks: [seeded.len]Task = seeded,
    selected: u32 = seeded[0].id,
    inspector_open: bool = true,

    /// What the views show of these goes through the functions below.
    pub const view_unbound = .{ "inspector_open", "current" };

    // What the main window binds.

    pub fn taskCount(model: *const Model) usize {
        return model.tasks.len;
    }

    pub fn doneCount(model: *const Model) usize {
        var count: usize = 0;
        for (model.tasks) |task| count += @intFromBool(task.done);
        return count;
    }

    pub fn inspectorState(model: *const Model) []const u8 {
        return if (model.inspector_open) "open" else "closed";
    }

    pub fn inspectorVerb(model: *const Model) []const u8 {
        return if (model.inspector_open) "Hide inspector" else "Show inspector";
    }

    // What the inspector binds: the selected task, looked up on each build.

    pub fn title(model: *const Model) []const u8 {
        return model.current().title;
    }

    pub fn owner(model: *const Model) []const u8 {
        return model.current().owner;
    }

    pub fn note(model: *const Model) []const u8 {
        return model.current().note;
    }

    pub fn done(model: *const Model) bool {
        return model.current().done;
    }

    /// The selected task. `update` selects none that is not there.
    pub fn current(model: *const Model) *const Task {
        return &model.tasks[model.indexOf(model.selected) orelse 0];
    }

    fn indexOf(model: *const Model, id: u32) ?usize {
        for (model.tasks, 0..) |task, index| {
            if (task.id == id) return index;
        }
        return null;
    }
};

pub fn update(model: *Model, msg: Msg) void {
    switch (msg) {
        .select => |id| {
            if (model.indexOf(id) != null) model.selected = id;
        },
        .toggle_done => {
            const index = model.indexOf(model.selected) orelse return;
            model.tasks[index].done = !model.tasks[index].done;
        },
        .toggle_inspector => model.inspector_open = !model.inspector_open,
        .inspector_closed => model.inspector_open = false,
    }
}

const seeded = [_]Task{
    .{ .id = 1, .title = "Draft the budget", .owner = "Ines", .note = "Ask finance for the figures of last year." },
    .{ .id = 2, .title = "Book the venue", .owner = "Tomas", .note = "Forty seats, a stage, and a lift." },
    .{ .id = 3, .title = "Invite the speakers", .owner = "Ada", .note = "Two keynotes are still open." },
    .{ .id = 4, .title = "Print the badges", .owner = "Noor", .note = "Names come from the registration list." },
};

pub fn initialModel() Model {
    return .{};
}

// ---------------------------------------------------------------- windows

pub const TasksApp = native_sdk.UiApp(Model, Msg);

/// The windows that exist beside the main one. The label is the window's
/// identity, so declaring it again never makes a second one.
pub fn windows(model: *const Model, scratch: *TasksApp.WindowsScratch) []const TasksApp.WindowDescriptor {
    if (!model.inspector_open) return &.{};
    scratch.windows[0] = .{
        .label = inspector_label,
        .canvas_label = inspector_canvas_label,
        .title = "Inspector",
        .width = inspector_size.width,
        .height = inspector_size.height,
        .min_width = inspector_min_size.width,
        .min_height = inspector_min_size.height,
        .on_close = .inspector_closed,
    };
    return scratch.windows[0..1];
}

pub fn windowView(ui: *TasksApp.Ui, model: *const Model, window_label: []const u8) TasksApp.Ui.Node {
    std.debug.assert(std.mem.eql(u8, window_label, inspector_label));
    return InspectorView.build(ui, model);
}

// ------------------------------------------------------------- view and app

pub const AppUi = canvas.Ui(Msg);
pub const app_markup = @embedFile("app.native");
pub const InspectorView = canvas.CompiledMarkupView(Model, Msg, @embedFile("inspector.native"));

/// One set of options for the real app and for the tests that run it headless.
pub fn appOptions() TasksApp.Options {
    return .{
        .name = "app",
        .scene = shell_scene,
        .canvas_label = canvas_label,
        .update = update,
        .markup = .{ .source = app_markup },
        .windows_fn = windows,
        .window_view = windowView,
    };
}

pub fn main(init: std.process.Init) !void {
    var options = appOptions();
    // Hot reload needs a file system, which only the real app has.
    options.markup = .{ .source = app_markup, .watch_path = "src/app.native", .io = init.io };

    const app_state = try TasksApp.create(std.heap.page_allocator, options);
    defer app_state.destroy();
    app_state.model = initialModel();

    try runner.runWithOptions(app_state.app(), .{
        .app_name = "app",
        .window_title = "Tasks",
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
