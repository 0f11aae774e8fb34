//! What the tests look at: the view as it is built from a model, and the whole
//! app running on a platform that draws nothing.

const std = @import("std");
const native_sdk = @import("native_sdk");
const main = @import("main.zig");

const canvas = native_sdk.canvas;
const geometry = native_sdk.geometry;
const testing = std.testing;

pub const Tree = main.AppUi.Tree;

/// A model and the view of it. A control is found by what it is and by the name
/// that a screen reader says; using it takes the message from the built tree.
pub const Screen = struct {
    arena_state: std.heap.ArenaAllocator,
    model: main.Model,
    tree: Tree,

    /// In place, since the tree points into the arena and into the model.
    pub fn init(screen: *Screen) !void {
        screen.arena_state = .init(testing.allocator);
        errdefer screen.arena_state.deinit();
        screen.model = main.initialModel();
        try screen.rebuild();
    }

    pub fn deinit(screen: *Screen) void {
        screen.arena_state.deinit();
    }

    pub fn rebuild(screen: *Screen) !void {
        const arena = screen.arena_state.allocator();
        var view = try canvas.MarkupView(main.Model, main.Msg).init(arena, main.app_markup);
        var ui = main.AppUi.init(arena);
        const node = view.build(&ui, &screen.model) catch |err| {
            if (err == error.MarkupBuild) {
                std.debug.print("app.native:{d}:{d}: {s}\n", .{ view.diagnostic.line, view.diagnostic.column, view.diagnostic.message });
            }
            return err;
        };
        screen.tree = try ui.finalize(node);
    }

    pub fn send(screen: *Screen, msg: main.Msg) !void {
        main.update(&screen.model, msg);
        try screen.rebuild();
    }

    pub fn click(screen: *Screen, kind: canvas.WidgetKind, name: []const u8) !void {
        const control = try screen.find(kind, name);
        try screen.send(screen.tree.msgForPointer(control.id, .up) orelse return error.ControlSendsNothing);
    }

    pub fn find(screen: *const Screen, kind: canvas.WidgetKind, name: []const u8) !canvas.Widget {
        return findIn(screen.tree.root, kind, name);
    }

    pub fn expectSeen(screen: *const Screen, kind: canvas.WidgetKind, name: []const u8) !void {
        _ = try screen.find(kind, name);
    }

    /// The names of all widgets of a kind, in the order in which they are read.
    pub fn expectNames(screen: *const Screen, kind: canvas.WidgetKind, names: []const []const u8) !void {
        var found: [64][]const u8 = undefined;
        var len: usize = 0;
        collect(screen.tree.root, kind, &found, &len);
        errdefer for (found[0..len]) |name| std.debug.print("seen: \"{s}\"\n", .{name});
        try testing.expectEqual(names.len, len);
        for (names, found[0..len]) |expected, actual| try testing.expectEqualStrings(expected, actual);
    }

    /// No text is cut and no control is nameless, from the smallest window on.
    pub fn expectSound(screen: *const Screen) !void {
        const sizes: canvas.LayoutAuditSweepOptions = .{ .min_size = main.window_min_size, .default_size = main.window_size };
        try canvas.expectLayoutAuditSweepClean(testing.allocator, screen.tree.root, sizes);
        try canvas.expectA11yAuditSweepClean(testing.allocator, screen.tree.root, .{
            .min_size = main.window_min_size,
            .default_size = main.window_size,
        });
    }
};

pub fn announced(widget: canvas.Widget) []const u8 {
    return if (widget.semantics.label.len > 0) widget.semantics.label else widget.text;
}

pub fn search(widget: canvas.Widget, kind: canvas.WidgetKind, name: []const u8) ?canvas.Widget {
    if (widget.kind == kind and std.mem.eql(u8, announced(widget), name)) return widget;
    for (widget.children) |child| {
        if (search(child, kind, name)) |found| return found;
    }
    return null;
}

pub fn findIn(widget: canvas.Widget, kind: canvas.WidgetKind, name: []const u8) !canvas.Widget {
    return search(widget, kind, name) orelse {
        std.debug.print("the view has no {t} named \"{s}\"\n", .{ kind, name });
        return error.WidgetNotFound;
    };
}

fn collect(widget: canvas.Widget, kind: canvas.WidgetKind, out: [][]const u8, len: *usize) void {
    if (widget.kind == kind) {
        out[len.*] = announced(widget);
        len.* += 1;
    }
    for (widget.children) |child| collect(child, kind, out, len);
}

/// The app in its real loop, headless.
pub const Running = struct {
    harness: *native_sdk.TestHarness(),
    app_state: *main.App,
    snapshot_buffer: []u8,

    pub fn start() !Running {
        const harness = try native_sdk.TestHarness().create(testing.allocator, .{ .size = main.window_size });
        errdefer harness.destroy(testing.allocator);
        harness.null_platform.gpu_surfaces = true;

        const app_state = try main.App.create(testing.allocator, main.appOptions());
        errdefer app_state.destroy();
        app_state.model = main.initialModel();

        const snapshot_buffer = try testing.allocator.alloc(u8, 512 * 1024);
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

    pub fn stop(running: Running) void {
        testing.allocator.free(running.snapshot_buffer);
        running.app_state.destroy();
        running.harness.destroy(testing.allocator);
    }

    /// Clicks through the automation protocol, as a user's click would come.
    pub fn click(running: Running, kind: canvas.WidgetKind, name: []const u8) !void {
        const control = try findIn(running.app_state.tree.?.root, kind, name);
        var buffer: [128]u8 = undefined;
        const line = try std.fmt.bufPrint(&buffer, "widget-click {s} {d}", .{ main.canvas_label, control.id });
        try running.harness.runtime.dispatchAutomationCommand(running.app_state.app(), line);
    }

    /// Each group of parts stands together in a line of what the app announces.
    pub fn expectAnnounced(running: Running, lines: []const []const []const u8) !void {
        var writer = std.Io.Writer.fixed(running.snapshot_buffer);
        try native_sdk.automation.snapshot.writeText(running.harness.runtime.automationSnapshot("App"), &writer);
        for (lines) |parts| {
            if (hasLine(writer.buffered(), parts)) continue;
            std.debug.print("no line has all of:", .{});
            for (parts) |part| std.debug.print(" {s}", .{part});
            std.debug.print("\n{s}\n", .{writer.buffered()});
            return error.NotAnnounced;
        }
    }
};

fn hasLine(text: []const u8, parts: []const []const u8) bool {
    var lines = std.mem.splitScalar(u8, text, '\n');
    next: while (lines.next()) |line| {
        for (parts) |part| {
            if (std.mem.indexOf(u8, line, part) == null) continue :next;
        }
        return true;
    }
    return false;
}
