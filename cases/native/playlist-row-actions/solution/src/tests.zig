//! Rows are tested on the built view, by the messages that it sends; the keys of
//! the whole app on the running app, headless, where focus decides who has them.

const std = @import("std");
const native_sdk = @import("native_sdk");
const main = @import("main.zig");

const canvas = native_sdk.canvas;
const testing = std.testing;

const Model = main.Model;
const Msg = main.Msg;
const PlaylistMarkup = canvas.MarkupView(Model, Msg);

/// A model with the view that was last built from it.
const Playlist = struct {
    arena_state: std.heap.ArenaAllocator,
    model: Model,
    tree: main.AppUi.Tree,

    /// In place: the tree points into the arena.
    fn init(playlist: *Playlist) !void {
        playlist.arena_state = .init(testing.allocator);
        errdefer playlist.arena_state.deinit();
        playlist.model = main.initialModel();
        try playlist.rebuild();
    }

    fn deinit(playlist: *Playlist) void {
        playlist.arena_state.deinit();
    }

    fn rebuild(playlist: *Playlist) !void {
        const arena = playlist.arena_state.allocator();
        var view = try PlaylistMarkup.init(arena, main.app_markup);
        var ui = main.AppUi.init(arena);
        const node = view.build(&ui, &playlist.model) catch |err| {
            if (err == error.MarkupBuild) {
                std.debug.print("app.native:{d}:{d}: {s}\n", .{ view.diagnostic.line, view.diagnostic.column, view.diagnostic.message });
            }
            return err;
        };
        playlist.tree = try ui.finalize(node);
    }

    fn deliver(playlist: *Playlist, msg: ?Msg) !void {
        main.update(&playlist.model, msg orelse return error.ControlSendsNothing);
        try playlist.rebuild();
    }

    fn click(playlist: *Playlist, kind: canvas.WidgetKind, name: []const u8) !void {
        const control = try playlist.find(kind, name);
        try playlist.deliver(playlist.tree.msgForPointer(control.id, .up));
    }

    /// A key on a row that has the keyboard's focus.
    fn keyOnRow(playlist: *Playlist, title: []const u8, key: []const u8) !void {
        const row = try playlist.find(.list_item, title);
        try playlist.deliver(playlist.tree.msgForKeyboard(row.id, .{ .phase = .key_down, .focused_id = row.id, .key = key }));
    }

    fn find(playlist: *const Playlist, kind: canvas.WidgetKind, name: []const u8) !canvas.Widget {
        return search(playlist.tree.root, kind, name) orelse {
            std.debug.print("the view has no {t} named \"{s}\"\n", .{ kind, name });
            return error.WidgetNotFound;
        };
    }

    /// This row is selected, and no other.
    fn expectSelected(playlist: *const Playlist, title: []const u8) !void {
        for (playlist.model.tracks) |track| {
            const row = try playlist.find(.list_item, track.title);
            try testing.expectEqual(std.mem.eql(u8, track.title, title), row.state.selected);
        }
    }
};

fn search(widget: canvas.Widget, kind: canvas.WidgetKind, name: []const u8) ?canvas.Widget {
    const announced = if (widget.semantics.label.len > 0) widget.semantics.label else widget.text;
    if (widget.kind == kind and std.mem.eql(u8, announced, name)) return widget;
    for (widget.children) |child| {
        if (search(child, kind, name)) |found| return found;
    }
    return null;
}

// -------------------------------------------------------------------- rows

test "the playlist opens stopped, on the first track" {
    var playlist: Playlist = undefined;
    try playlist.init();
    defer playlist.deinit();

    try playlist.expectSelected("Morning Fog");
    _ = try playlist.find(.status_bar, "Stopped, 5 tracks");
    _ = try playlist.find(.text, "3:07");
    try testing.expect((try playlist.find(.button, "Resume")).state.disabled);
}

test "a click selects a row and plays nothing" {
    var playlist: Playlist = undefined;
    try playlist.init();
    defer playlist.deinit();

    try playlist.click(.list_item, "Night Tram");
    try playlist.expectSelected("Night Tram");
    _ = try playlist.find(.status_bar, "Stopped, 5 tracks");
}

test "Enter on a row plays it, Space only selects it" {
    var playlist: Playlist = undefined;
    try playlist.init();
    defer playlist.deinit();

    try playlist.keyOnRow("Last Ferry", "space");
    try playlist.expectSelected("Last Ferry");
    _ = try playlist.find(.status_bar, "Stopped, 5 tracks");

    try playlist.keyOnRow("Paper Boats", "enter");
    try playlist.expectSelected("Paper Boats");
    _ = try playlist.find(.status_bar, "Playing: Paper Boats");
    _ = try playlist.find(.badge, "playing");
}

test "selecting another track leaves the one that plays alone" {
    var playlist: Playlist = undefined;
    try playlist.init();
    defer playlist.deinit();

    try playlist.keyOnRow("Paper Boats", "enter");
    try playlist.click(.list_item, "Last Ferry");
    try playlist.expectSelected("Last Ferry");
    _ = try playlist.find(.status_bar, "Playing: Paper Boats");
}

test "the button pauses and resumes, and Enter begins again" {
    var playlist: Playlist = undefined;
    try playlist.init();
    defer playlist.deinit();

    try playlist.keyOnRow("Night Tram", "enter");
    try playlist.click(.button, "Pause");
    _ = try playlist.find(.status_bar, "Paused: Night Tram");
    _ = try playlist.find(.badge, "paused");
    try playlist.click(.button, "Resume");
    _ = try playlist.find(.status_bar, "Playing: Night Tram");

    try playlist.click(.button, "Pause");
    try playlist.keyOnRow("Night Tram", "enter");
    _ = try playlist.find(.status_bar, "Playing: Night Tram");
}

// ------------------------------------------------------------- keys and rules

test "the app's keys, and those that it leaves alone" {
    const cases = [_]struct { key: []const u8, msg: ?Msg }{
        .{ .key = "space", .msg = .toggle_playing },
        .{ .key = "arrowdown", .msg = .select_next },
        .{ .key = "arrowup", .msg = .select_previous },
        .{ .key = "enter", .msg = null },
        .{ .key = "s", .msg = null },
    };
    for (cases) |case| {
        try testing.expectEqualDeep(case.msg, main.onKey(.{ .phase = .key_down, .key = case.key }));
    }
    try testing.expectEqual(@as(?Msg, null), main.onKey(.{ .phase = .key_down, .key = "space", .modifiers = .{ .control = true } }));
    try testing.expectEqual(@as(?Msg, null), main.onKey(.{ .phase = .key_down, .key = "arrowdown", .modifiers = .{ .shift = true } }));
}

test "the selection stays at the ends" {
    var model = main.initialModel();
    main.update(&model, .select_previous);
    try testing.expectEqual(@as(u32, 1), model.selected);
    for (0..9) |_| main.update(&model, .select_next);
    try testing.expectEqual(@as(u32, 5), model.selected);
}

test "update plays and selects no track that is not there" {
    var model = main.initialModel();
    main.update(&model, .{ .play = 99 });
    main.update(&model, .{ .select = 99 });
    try testing.expectEqual(@as(u32, 1), model.selected);
    try testing.expect(!model.hasCurrent() and !model.playing);
}

// ---------------------------------------------- the running app, headless

const Running = struct {
    harness: *native_sdk.TestHarness(),
    app_state: *main.PlaylistApp,
    snapshot_buffer: []u8,

    fn start() !Running {
        const harness = try native_sdk.TestHarness().create(testing.allocator, .{ .size = main.window_size });
        errdefer harness.destroy(testing.allocator);
        harness.null_platform.gpu_surfaces = true;
        const app_state = try main.PlaylistApp.create(testing.allocator, main.appOptions());
        errdefer app_state.destroy();
        app_state.model = main.initialModel();
        const snapshot_buffer = try testing.allocator.alloc(u8, 64 * 1024);
        errdefer testing.allocator.free(snapshot_buffer);

        try harness.start(app_state.app());
        try harness.runtime.dispatchPlatformEvent(app_state.app(), .{ .gpu_surface_frame = .{
            .label = main.canvas_label,
            .size = main.window_size,
            .scale_factor = 1,
            .frame_index = 1,
            .timestamp_ns = 1_000_000,
            .nonblank = true,
        } });
        return .{ .harness = harness, .app_state = app_state, .snapshot_buffer = snapshot_buffer };
    }

    fn stop(running: Running) void {
        testing.allocator.free(running.snapshot_buffer);
        running.app_state.destroy();
        running.harness.destroy(testing.allocator);
    }

    /// A key of the keyboard, wherever the focus is.
    fn press(running: Running, key: []const u8) !void {
        for ([_]native_sdk.platform.GpuSurfaceInputKind{ .key_down, .key_up }) |kind| {
            try running.harness.runtime.dispatchPlatformEvent(running.app_state.app(), .{ .gpu_surface_input = .{
                .window_id = 1,
                .label = main.canvas_label,
                .kind = kind,
                .key = key,
            } });
        }
    }

    fn click(running: Running, title: []const u8) !void {
        const row = search(running.app_state.tree.?.root, .list_item, title) orelse return error.WidgetNotFound;
        var buffer: [96]u8 = undefined;
        const command = try std.fmt.bufPrint(&buffer, "widget-click {s} {d}", .{ main.canvas_label, row.id });
        try running.harness.runtime.dispatchAutomationCommand(running.app_state.app(), command);
    }

    /// A line of what a live app publishes has all of these parts.
    fn announces(running: Running, parts: []const []const u8) !bool {
        var writer = std.Io.Writer.fixed(running.snapshot_buffer);
        try native_sdk.automation.snapshot.writeText(running.harness.runtime.automationSnapshot("Playlist"), &writer);
        var lines = std.mem.splitScalar(u8, writer.buffered(), '\n');
        next: while (lines.next()) |line| {
            for (parts) |part| {
                if (std.mem.indexOf(u8, line, part) == null) continue :next;
            }
            return true;
        }
        return false;
    }

    fn expectAnnounced(running: Running, parts: []const []const u8) !void {
        if (try running.announces(parts)) return;
        std.debug.print("no line of the snapshot has {s} and {s}\n", .{ parts[0], parts[parts.len - 1] });
        return error.NotAnnounced;
    }

    /// Walks on with Tab until the row has the keyboard.
    fn tabTo(running: Running, name: []const u8) !void {
        for (0..10) |_| {
            try running.press("tab");
            if (try running.announces(&.{ "role=listitem", name, "focused=true" })) return;
        }
        return error.NotReachedByTab;
    }
};

test "with nothing focused, arrows move the selection and Space plays" {
    const running = try Running.start();
    defer running.stop();
    const model = &running.app_state.model;

    for (0..2) |_| try running.press("arrowdown");
    try testing.expectEqual(@as(u32, 3), model.selected);
    try running.press("arrowup");
    try testing.expectEqual(@as(u32, 2), model.selected);

    try running.press("space");
    try running.expectAnnounced(&.{"name=\"Playing: Paper Boats\""});
    try running.press("space");
    try running.expectAnnounced(&.{"name=\"Paused: Paper Boats\""});
}

test "a row that was clicked leaves the keys to the app" {
    const running = try Running.start();
    defer running.stop();

    try running.click("Night Tram");
    try running.press("arrowdown");
    try testing.expectEqual(@as(u32, 4), running.app_state.model.selected);
    try running.press("space");
    try running.expectAnnounced(&.{"name=\"Playing: Salt and Cedar\""});
}

test "a row that was reached by Tab takes Enter and Space itself" {
    const running = try Running.start();
    defer running.stop();

    try running.tabTo("name=\"Last Ferry\"");
    try running.press("space");
    try testing.expectEqual(@as(u32, 5), running.app_state.model.selected);
    try running.expectAnnounced(&.{"name=\"Stopped, 5 tracks\""});
    try running.press("enter");
    try running.expectAnnounced(&.{"name=\"Playing: Last Ferry\""});
}

test "the running playlist announces its rows, the selection and its state" {
    const running = try Running.start();
    defer running.stop();

    for (running.app_state.model.tracks) |track| {
        try running.expectAnnounced(&.{ "role=listitem", track.title });
    }
    try running.expectAnnounced(&.{ "name=\"Morning Fog\"", "selected" });
    try running.expectAnnounced(&.{"name=\"Stopped, 5 tracks\""});
}

test "nothing overflows and every control is named, at every window size" {
    var playlist: Playlist = undefined;
    try playlist.init();
    defer playlist.deinit();

    try playlist.keyOnRow("Salt and Cedar", "enter");
    try canvas.expectLayoutAuditSweepClean(testing.allocator, playlist.tree.root, .{ .min_size = main.window_min_size, .default_size = main.window_size });
    try canvas.expectA11yAuditSweepClean(testing.allocator, playlist.tree.root, .{ .min_size = main.window_min_size, .default_size = main.window_size });
}
