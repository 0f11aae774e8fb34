//! The app runs headless here, with a platform that keeps records of its
//! windows: clicks and the user's close button go the way they really go.

const std = @import("std");
const native_sdk = @import("native_sdk");
const main = @import("main.zig");

const canvas = native_sdk.canvas;
const geometry = native_sdk.geometry;
const testing = std.testing;

/// The running app, with the first frame of every open window delivered.
const Running = struct {
    harness: *native_sdk.TestHarness(),
    app_state: *main.TasksApp,
    snapshot_buffer: []u8,

    fn start() !Running {
        const harness = try native_sdk.TestHarness().create(testing.allocator, .{ .size = main.window_size });
        errdefer harness.destroy(testing.allocator);
        harness.null_platform.gpu_surfaces = true;
        const app_state = try main.TasksApp.create(testing.allocator, main.appOptions());
        errdefer app_state.destroy();
        app_state.model = main.initialModel();
        const snapshot_buffer = try testing.allocator.alloc(u8, 128 * 1024);
        errdefer testing.allocator.free(snapshot_buffer);

        const running: Running = .{ .harness = harness, .app_state = app_state, .snapshot_buffer = snapshot_buffer };
        try harness.start(app_state.app());
        try running.present(1, main.canvas_label, main.window_size);
        try running.presentInspector();
        return running;
    }

    fn stop(running: Running) void {
        testing.allocator.free(running.snapshot_buffer);
        running.app_state.destroy();
        running.harness.destroy(testing.allocator);
    }

    fn present(running: Running, window_id: u64, label: []const u8, size: geometry.SizeF) !void {
        try running.harness.runtime.dispatchPlatformEvent(running.app_state.app(), .{ .gpu_surface_frame = .{
            .window_id = window_id,
            .label = label,
            .size = size,
            .scale_factor = 1,
            .frame_index = 1,
            .timestamp_ns = 1_000_000,
            .nonblank = true,
        } });
    }

    fn presentInspector(running: Running) !void {
        const id = running.inspectorId() orelse return;
        try running.present(id, main.inspector_canvas_label, main.inspector_size);
    }

    fn inspectorCount(running: Running) usize {
        var buffer: [native_sdk.platform.max_windows]native_sdk.WindowInfo = undefined;
        var count: usize = 0;
        for (running.harness.runtime.listWindows(&buffer)) |window| {
            count += @intFromBool(window.open and std.mem.eql(u8, window.label, main.inspector_label));
        }
        return count;
    }

    fn inspectorId(running: Running) ?u64 {
        var buffer: [native_sdk.platform.max_windows]native_sdk.WindowInfo = undefined;
        for (running.harness.runtime.listWindows(&buffer)) |window| {
            if (window.open and std.mem.eql(u8, window.label, main.inspector_label)) return window.id;
        }
        return null;
    }

    fn widget(running: Running, label: []const u8, kind: canvas.WidgetKind, name: []const u8) ?canvas.Widget {
        const window_id = if (std.mem.eql(u8, label, main.canvas_label)) 1 else running.inspectorId() orelse return null;
        const layout = running.harness.runtime.canvasWidgetLayout(window_id, label) catch return null;
        for (layout.nodes) |node| {
            const announced = if (node.widget.semantics.label.len > 0) node.widget.semantics.label else node.widget.text;
            if (node.widget.kind == kind and std.mem.eql(u8, announced, name)) return node.widget;
        }
        return null;
    }

    fn click(running: Running, label: []const u8, kind: canvas.WidgetKind, name: []const u8) !void {
        const target = running.widget(label, kind, name) orelse {
            std.debug.print("{s} has no {t} named \"{s}\"\n", .{ label, kind, name });
            return error.WidgetNotFound;
        };
        var buffer: [96]u8 = undefined;
        const command = try std.fmt.bufPrint(&buffer, "widget-click {s} {d}", .{ label, target.id });
        try running.harness.runtime.dispatchAutomationCommand(running.app_state.app(), command);
        try running.presentInspector();
    }

    fn expectShown(running: Running, label: []const u8, kind: canvas.WidgetKind, name: []const u8) !void {
        if (running.widget(label, kind, name) != null) return;
        std.debug.print("{s} shows no {t} \"{s}\"\n", .{ label, kind, name });
        return error.WidgetNotFound;
    }

    fn expectInspected(running: Running, title: []const u8, owner: []const u8) !void {
        try running.expectShown(main.inspector_canvas_label, .text, title);
        try running.expectShown(main.inspector_canvas_label, .text, owner);
    }

    fn userClosesInspector(running: Running) !void {
        const id = running.inspectorId() orelse return error.NoInspector;
        const event = running.harness.null_platform.userCloseWindow(id) orelse return error.NoInspector;
        try running.harness.runtime.dispatchPlatformEvent(running.app_state.app(), event);
    }

    fn snapshot(running: Running) ![]const u8 {
        var writer = std.Io.Writer.fixed(running.snapshot_buffer);
        try native_sdk.automation.snapshot.writeText(running.harness.runtime.automationSnapshot("Tasks"), &writer);
        return writer.buffered();
    }
};

test "the inspector opens with the app, in a window of its own, on the first task" {
    const running = try Running.start();
    defer running.stop();

    try testing.expectEqual(@as(usize, 1), running.inspectorCount());
    try running.expectInspected("Draft the budget", "Owner: Ines");
    try running.expectShown(main.canvas_label, .status_bar, "4 tasks, 0 done, inspector open");
    // What the inspector tells is in no other window.
    try testing.expect(running.widget(main.canvas_label, .text, "Owner: Ines") == null);
}

test "the inspector follows the selection" {
    const running = try Running.start();
    defer running.stop();

    try running.click(main.canvas_label, .list_item, "Invite the speakers");
    try running.expectInspected("Invite the speakers", "Owner: Ada");
    try testing.expect(running.widget(main.inspector_canvas_label, .text, "Draft the budget") == null);
    try testing.expect(running.widget(main.canvas_label, .list_item, "Invite the speakers").?.state.selected);
    try testing.expect(!running.widget(main.canvas_label, .list_item, "Draft the budget").?.state.selected);
}

test "a task that is done in the inspector is done in the list" {
    const running = try Running.start();
    defer running.stop();

    try running.click(main.canvas_label, .list_item, "Book the venue");
    try running.click(main.inspector_canvas_label, .checkbox, "Done");
    try running.expectShown(main.canvas_label, .status_bar, "4 tasks, 1 done, inspector open");
    try running.expectShown(main.canvas_label, .badge, "done");

    // The mark belongs to the task, not to the window.
    try running.click(main.canvas_label, .list_item, "Print the badges");
    try testing.expect(!running.widget(main.inspector_canvas_label, .checkbox, "Done").?.state.selected);
    try running.click(main.canvas_label, .list_item, "Book the venue");
    try testing.expect(running.widget(main.inspector_canvas_label, .checkbox, "Done").?.state.selected);
}

test "the button hides the inspector and shows it again, never twice" {
    const running = try Running.start();
    defer running.stop();

    try running.click(main.canvas_label, .button, "Hide inspector");
    try testing.expectEqual(@as(usize, 0), running.inspectorCount());
    try running.expectShown(main.canvas_label, .status_bar, "4 tasks, 0 done, inspector closed");

    // The selection goes on without it, and is what it shows when it is back.
    try running.click(main.canvas_label, .list_item, "Print the badges");
    try running.click(main.canvas_label, .button, "Show inspector");
    try testing.expectEqual(@as(usize, 1), running.inspectorCount());
    try running.expectInspected("Print the badges", "Owner: Noor");

    for ([_][]const u8{ "Book the venue", "Invite the speakers" }) |title| {
        try running.click(main.canvas_label, .list_item, title);
        try testing.expectEqual(@as(usize, 1), running.inspectorCount());
    }
}

test "an inspector that the user closes stays closed until it is asked for" {
    const running = try Running.start();
    defer running.stop();

    try running.userClosesInspector();
    try testing.expectEqual(@as(usize, 0), running.inspectorCount());
    try testing.expect(!running.app_state.model.inspector_open);
    try running.expectShown(main.canvas_label, .status_bar, "4 tasks, 0 done, inspector closed");

    // Nothing that happens in the list brings it back.
    try running.click(main.canvas_label, .list_item, "Book the venue");
    try testing.expectEqual(@as(usize, 0), running.inspectorCount());

    try running.click(main.canvas_label, .button, "Show inspector");
    try running.expectInspected("Book the venue", "Owner: Tomas");
}

test "update selects no task that is not there" {
    var model = main.initialModel();
    main.update(&model, .{ .select = 99 });
    try testing.expectEqualStrings("Draft the budget", model.title());
    main.update(&model, .inspector_closed);
    main.update(&model, .inspector_closed);
    try testing.expect(!model.inspector_open);
}

test "the snapshot lists both windows" {
    const running = try Running.start();
    defer running.stop();

    const text = try running.snapshot();
    for ([_][]const u8{
        "\"Inspector\" bounds=",
        "inspector-canvas",
        "role=listitem name=\"Draft the budget\"",
        "name=\"Owner: Ines\"",
        "name=\"4 tasks, 0 done, inspector open\"",
    }) |part| {
        if (std.mem.indexOf(u8, text, part) == null) {
            std.debug.print("the snapshot lacks {s}\n", .{part});
            return error.NotAnnounced;
        }
    }
}

test "nothing overflows and every control is named, in both windows" {
    var arena_state = std.heap.ArenaAllocator.init(testing.allocator);
    defer arena_state.deinit();
    const arena = arena_state.allocator();
    var model = main.initialModel();
    model.tasks[0].done = true;

    var view = try canvas.MarkupView(main.Model, main.Msg).init(arena, main.app_markup);
    var main_ui = main.AppUi.init(arena);
    const main_tree = try main_ui.finalize(try view.build(&main_ui, &model));
    try canvas.expectLayoutAuditSweepClean(testing.allocator, main_tree.root, .{ .min_size = main.window_min_size, .default_size = main.window_size });
    try canvas.expectA11yAuditSweepClean(testing.allocator, main_tree.root, .{ .min_size = main.window_min_size, .default_size = main.window_size });

    var inspector_ui = main.AppUi.init(arena);
    const inspector_tree = try inspector_ui.finalize(main.InspectorView.build(&inspector_ui, &model));
    try canvas.expectLayoutAuditSweepClean(testing.allocator, inspector_tree.root, .{ .min_size = main.inspector_min_size, .default_size = main.inspector_size });
    try canvas.expectA11yAuditSweepClean(testing.allocator, inspector_tree.root, .{ .min_size = main.inspector_min_size, .default_size = main.inspector_size });
}
