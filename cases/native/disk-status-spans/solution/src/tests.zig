//! Presses go the way the running app takes them: find the button in the built
//! view, take the message that the view sends for it, give it to `update`, and
//! build the view again.

const std = @import("std");
const native_sdk = @import("native_sdk");
const main = @import("main.zig");

const canvas = native_sdk.canvas;
const geometry = native_sdk.geometry;
const testing = std.testing;

const Model = main.Model;
const Msg = main.Msg;
const DiskMarkup = canvas.MarkupView(Model, Msg);

/// A model with the view that was last built from it.
const Status = struct {
    arena_state: std.heap.ArenaAllocator,
    model: Model,
    tree: main.AppUi.Tree,

    /// In place: the tree points into the arena.
    fn init(status: *Status) !void {
        status.arena_state = .init(testing.allocator);
        errdefer status.arena_state.deinit();
        status.model = main.initialModel();
        try status.rebuild();
    }

    fn deinit(status: *Status) void {
        status.arena_state.deinit();
    }

    fn rebuild(status: *Status) !void {
        const arena = status.arena_state.allocator();
        var view = try DiskMarkup.init(arena, main.app_markup);
        var ui = main.AppUi.init(arena);
        const node = view.build(&ui, &status.model) catch |err| {
            if (err == error.MarkupBuild) {
                std.debug.print("app.native:{d}:{d}: {s}\n", .{ view.diagnostic.line, view.diagnostic.column, view.diagnostic.message });
            }
            return err;
        };
        status.tree = try ui.finalize(node);
    }

    fn press(status: *Status, text: []const u8) !void {
        const button = try status.find(.button, text);
        const msg = status.tree.msgForPointer(button.id, .up) orelse return error.ButtonSendsNothing;
        main.update(&status.model, msg);
        try status.rebuild();
    }

    fn find(status: *const Status, kind: canvas.WidgetKind, text: []const u8) !canvas.Widget {
        return search(status.tree.root, kind, text) orelse {
            std.debug.print("the view has no {t} with \"{s}\"\n", .{ kind, text });
            return error.WidgetNotFound;
        };
    }

    /// The paragraph: the text that is made of runs.
    fn paragraph(status: *const Status) !canvas.Widget {
        return searchRuns(status.tree.root) orelse error.WidgetNotFound;
    }

    fn expectParagraph(status: *const Status, text: []const u8) !void {
        try testing.expectEqualStrings(text, (try status.paragraph()).text);
    }

    /// The run with exactly this text.
    fn run(status: *const Status, text: []const u8) !canvas.TextSpan {
        for ((try status.paragraph()).spans) |span| {
            if (std.mem.eql(u8, std.mem.trim(u8, span.text, " "), text)) return span;
        }
        std.debug.print("the paragraph has no run \"{s}\"\n", .{text});
        return error.RunNotFound;
    }
};

fn search(widget: canvas.Widget, kind: canvas.WidgetKind, text: []const u8) ?canvas.Widget {
    if (widget.kind == kind and std.mem.eql(u8, widget.text, text)) return widget;
    for (widget.children) |child| {
        if (search(child, kind, text)) |found| return found;
    }
    return null;
}

fn searchRuns(widget: canvas.Widget) ?canvas.Widget {
    if (widget.spans.len > 0) return widget;
    for (widget.children) |child| {
        if (searchRuns(child)) |found| return found;
    }
    return null;
}

const opening = "384 GB of 512 GB on /data are in use (75%). Run native doctor if this looks wrong.";

test "the first disk's state is one paragraph" {
    var status: Status = undefined;
    try status.init();
    defer status.deinit();

    try status.expectParagraph(opening);
    _ = try status.find(.status_bar, "Disk 1 of 3, 128 GB free");
}

test "the parts of the paragraph differ in looks" {
    var status: Status = undefined;
    try status.init();
    defer status.deinit();

    try testing.expectEqual(canvas.TextSpanWeight.bold, (try status.run("384 GB")).weight);
    try testing.expectEqualStrings("text_muted", @tagName((try status.run("of 512 GB")).color.?));
    try testing.expect((try status.run("/data")).monospace);
    try testing.expect((try status.run("native doctor")).monospace);
    // What stands between them is plain.
    const between = try status.run("on");
    try testing.expect(between.weight == .regular and !between.monospace and between.color == null);
}

test "filling and freeing are told in the same paragraph" {
    var status: Status = undefined;
    try status.init();
    defer status.deinit();

    try status.press("Fill 32 GB");
    try status.expectParagraph("416 GB of 512 GB on /data are in use (81%). Run native doctor if this looks wrong.");
    _ = try status.find(.status_bar, "Disk 1 of 3, 96 GB free");

    for (0..2) |_| try status.press("Free 32 GB");
    try status.expectParagraph("352 GB of 512 GB on /data are in use (69%). Run native doctor if this looks wrong.");
}

test "a share is rounded to the nearest percent" {
    var status: Status = undefined;
    try status.init();
    defer status.deinit();

    try status.press("Next disk");
    // 93.75
    try status.expectParagraph("960 GB of 1024 GB on /backup are in use (94%). Run native doctor if this looks wrong.");
    try status.press("Fill 32 GB");
    // 96.875
    try status.expectParagraph("992 GB of 1024 GB on /backup are in use (97%). Run native doctor if this looks wrong.");
}

test "a full disk cannot be filled, an empty one not freed" {
    var status: Status = undefined;
    try status.init();
    defer status.deinit();

    for (0..4) |_| try status.press("Fill 32 GB");
    try status.expectParagraph("512 GB of 512 GB on /data are in use (100%). Run native doctor if this looks wrong.");
    const fill = try status.find(.button, "Fill 32 GB");
    try testing.expect(fill.state.disabled);
    try testing.expectEqual(@as(?Msg, null), status.tree.msgForPointer(fill.id, .up));
    // Nor by any other way.
    main.update(&status.model, .fill);
    try testing.expectEqual(@as(u32, 512), status.model.used());

    for (0..2) |_| try status.press("Next disk");
    try status.expectParagraph("0 GB of 256 GB on /scratch are in use (0%). Run native doctor if this looks wrong.");
    try testing.expect((try status.find(.button, "Free 32 GB")).state.disabled);
    main.update(&status.model, .free);
    try testing.expectEqual(@as(u32, 0), status.model.used());
}

test "each disk keeps its own figures, and after the last comes the first" {
    var status: Status = undefined;
    try status.init();
    defer status.deinit();

    try status.press("Fill 32 GB");
    for (0..3) |_| try status.press("Next disk");
    try status.expectParagraph("416 GB of 512 GB on /data are in use (81%). Run native doctor if this looks wrong.");
    _ = try status.find(.status_bar, "Disk 1 of 3, 96 GB free");
}

test "the paragraph wraps where the window is narrow" {
    var status: Status = undefined;
    try status.init();
    defer status.deinit();

    const id = (try status.paragraph()).id;
    const narrow = try heightOf(status.tree.root, id, main.window_min_size);
    const wide = try heightOf(status.tree.root, id, geometry.SizeF.init(1200, 400));
    try testing.expect(narrow >= wide * 1.9);
}

fn heightOf(root: canvas.Widget, id: canvas.ObjectId, size: geometry.SizeF) !f32 {
    var nodes: [64]canvas.WidgetLayoutNode = undefined;
    const layout = try canvas.layoutWidgetTree(root, geometry.RectF.init(0, 0, size.width, size.height), &nodes);
    const node = layout.findById(id) orelse return error.WidgetNotFound;
    return node.frame.height;
}

test "nothing overflows and every control is named, at every window size" {
    var status: Status = undefined;
    try status.init();
    defer status.deinit();

    try canvas.expectLayoutAuditSweepClean(testing.allocator, status.tree.root, .{ .min_size = main.window_min_size, .default_size = main.window_size });
    try canvas.expectA11yAuditSweepClean(testing.allocator, status.tree.root, .{ .min_size = main.window_min_size, .default_size = main.window_size });
}

test "the running app announces the paragraph as one text" {
    const harness = try native_sdk.TestHarness().create(testing.allocator, .{ .size = main.window_size });
    defer harness.destroy(testing.allocator);
    harness.null_platform.gpu_surfaces = true;

    const app_state = try main.DiskApp.create(testing.allocator, main.appOptions());
    defer app_state.destroy();
    app_state.model = main.initialModel();
    try harness.start(app_state.app());
    try harness.runtime.dispatchPlatformEvent(app_state.app(), .{ .gpu_surface_frame = .{
        .label = main.canvas_label,
        .size = main.window_size,
        .scale_factor = 1,
        .frame_index = 1,
        .timestamp_ns = 1_000_000,
        .nonblank = true,
    } });

    const buffer = try testing.allocator.alloc(u8, 64 * 1024);
    defer testing.allocator.free(buffer);
    var writer = std.Io.Writer.fixed(buffer);
    try native_sdk.automation.snapshot.writeText(harness.runtime.automationSnapshot("Disk Status"), &writer);
    try testing.expect(std.mem.indexOf(u8, writer.buffered(), "name=\"" ++ opening ++ "\"") != null);
}
