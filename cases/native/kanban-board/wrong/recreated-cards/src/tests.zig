//! Every user action here goes the way the running app takes it: find the
//! control in the built view, ask the view which message it sends, give that
//! message to `update`, and build the view again.

const std = @import("std");
const native_sdk = @import("native_sdk");
const main = @import("main.zig");

const canvas = native_sdk.canvas;
const geometry = native_sdk.geometry;
const testing = std.testing;

const Model = main.Model;
const Msg = main.Msg;
const Tree = main.AppUi.Tree;
const BoardMarkup = canvas.MarkupView(Model, Msg);

const columns = [_][]const u8{ "Todo", "Doing", "Done" };

/// A model with the view that was last built from it.
const Board = struct {
    arena_state: std.heap.ArenaAllocator,
    model: Model,
    tree: Tree,

    /// In place: the tree points into the arena and into the model.
    fn init(board: *Board) !void {
        board.arena_state = .init(testing.allocator);
        errdefer board.arena_state.deinit();
        board.model = main.initialModel();
        try board.rebuild();
    }

    fn deinit(board: *Board) void {
        board.arena_state.deinit();
    }

    fn rebuild(board: *Board) !void {
        const arena = board.arena_state.allocator();
        var view = try BoardMarkup.init(arena, main.app_markup);
        var ui = main.AppUi.init(arena);
        const node = view.build(&ui, &board.model) catch |err| {
            // Say where in app.native, instead of a bare error trace.
            if (err == error.MarkupBuild) {
                std.debug.print("app.native:{d}:{d}: {s}\n", .{ view.diagnostic.line, view.diagnostic.column, view.diagnostic.message });
            }
            return err;
        };
        board.tree = try ui.finalize(node);
    }

    fn send(board: *Board, msg: Msg) !void {
        main.update(&board.model, msg);
        try board.rebuild();
    }

    /// Clicks the control that a screen reader calls `name`.
    fn click(board: *Board, kind: canvas.WidgetKind, name: []const u8) !void {
        const control = try find(board.tree.root, kind, name);
        const msg = board.tree.msgForPointer(control.id, .up) orelse return error.ControlSendsNothing;
        try board.send(msg);
    }

    fn clickInCard(board: *Board, card_title: []const u8, kind: canvas.WidgetKind, name: []const u8) !void {
        const control = try find(try board.card(card_title), kind, name);
        const msg = board.tree.msgForPointer(control.id, .up) orelse return error.ControlSendsNothing;
        try board.send(msg);
    }

    /// Types into the field as the runtime would deliver it: one edit event.
    fn typeTitle(board: *Board, text: []const u8) !void {
        const field = try board.draftField();
        try board.send(board.tree.msgForTextEdit(field.id, .{ .insert_text = text }) orelse return error.ControlSendsNothing);
    }

    fn draftField(board: *const Board) !canvas.Widget {
        return findKind(board.tree.root, .text_field) orelse error.WidgetNotFound;
    }

    fn column(board: *const Board, name: []const u8) !canvas.Widget {
        return find(board.tree.root, .column, name);
    }

    fn card(board: *const Board, title: []const u8) !canvas.Widget {
        return find(board.tree.root, .card, title);
    }

    fn moveButton(board: *const Board, title: []const u8, comptime direction: []const u8) !canvas.Widget {
        var name_buffer: [128]u8 = undefined;
        const name = try std.fmt.bufPrint(&name_buffer, "Move {s} " ++ direction, .{title});
        return find(board.tree.root, .button, name);
    }

    /// The column shows exactly these cards, top to bottom, and says how many.
    fn expectColumn(board: *const Board, name: []const u8, titles: []const []const u8) !void {
        const shown = try board.column(name);

        var found: [main.max_cards][]const u8 = undefined;
        var len: usize = 0;
        collectCards(shown, &found, &len);
        errdefer for (found[0..len]) |title| std.debug.print("{s} shows \"{s}\"\n", .{ name, title });
        try testing.expectEqual(titles.len, len);
        for (titles, found[0..len]) |expected, actual| try testing.expectEqualStrings(expected, actual);

        var count_buffer: [32]u8 = undefined;
        const noun = if (titles.len == 1) "card" else "cards";
        const count = try std.fmt.bufPrint(&count_buffer, "{d} {s}", .{ titles.len, noun });
        _ = try find(shown, .text, count);
    }
};

/// The name that assistive technology announces: the label, else the text.
fn announced(widget: canvas.Widget) []const u8 {
    return if (widget.semantics.label.len > 0) widget.semantics.label else widget.text;
}

fn search(widget: canvas.Widget, kind: canvas.WidgetKind, name: []const u8) ?canvas.Widget {
    if (widget.kind == kind and std.mem.eql(u8, announced(widget), name)) return widget;
    for (widget.children) |child| {
        if (search(child, kind, name)) |found| return found;
    }
    return null;
}

fn find(widget: canvas.Widget, kind: canvas.WidgetKind, name: []const u8) !canvas.Widget {
    return search(widget, kind, name) orelse {
        std.debug.print("the view has no {t} named \"{s}\" here\n", .{ kind, name });
        return error.WidgetNotFound;
    };
}

fn findKind(widget: canvas.Widget, kind: canvas.WidgetKind) ?canvas.Widget {
    if (widget.kind == kind) return widget;
    for (widget.children) |child| {
        if (findKind(child, kind)) |found| return found;
    }
    return null;
}

fn collectCards(widget: canvas.Widget, out: [][]const u8, len: *usize) void {
    if (widget.kind == .card) {
        out[len.*] = announced(widget);
        len.* += 1;
        return;
    }
    for (widget.children) |child| collectCards(child, out, len);
}

const seeded_todo = [_][]const u8{ "Sketch the onboarding flow", "Collect beta feedback", "Write release notes" };
const seeded_doing = [_][]const u8{ "Fix login timeout", "Review pricing page" };
const seeded_done = [_][]const u8{"Set up analytics"};

// ------------------------------------------------------------------- moves

test "the board opens with the seeded cards in their columns" {
    var board: Board = undefined;
    try board.init();
    defer board.deinit();

    try board.expectColumn("Todo", &seeded_todo);
    try board.expectColumn("Doing", &seeded_doing);
    try board.expectColumn("Done", &seeded_done);
    _ = try find(board.tree.root, .status_bar, "6 of 60 cards, 0 blocked");
}

test "moving right takes a card out of its column and to the bottom of the next" {
    var board: Board = undefined;
    try board.init();
    defer board.deinit();

    try board.click(.button, "Move Collect beta feedback right");

    try board.expectColumn("Todo", &.{ "Sketch the onboarding flow", "Write release notes" });
    try board.expectColumn("Doing", &.{ "Fix login timeout", "Review pricing page", "Collect beta feedback" });
    try board.expectColumn("Done", &seeded_done);
}

test "moving left takes a card out of its column and to the bottom of the previous" {
    var board: Board = undefined;
    try board.init();
    defer board.deinit();

    try board.click(.button, "Move Set up analytics left");

    try board.expectColumn("Todo", &seeded_todo);
    try board.expectColumn("Doing", &.{ "Fix login timeout", "Review pricing page", "Set up analytics" });
    try board.expectColumn("Done", &.{});
    // An empty column says so.
    _ = try find(try board.column("Done"), .text, "No cards here");
}

test "a card crosses the whole board and comes back" {
    var board: Board = undefined;
    try board.init();
    defer board.deinit();

    for (0..2) |_| try board.click(.button, "Move Write release notes right");
    try board.expectColumn("Todo", &.{ "Sketch the onboarding flow", "Collect beta feedback" });
    try board.expectColumn("Doing", &seeded_doing);
    try board.expectColumn("Done", &.{ "Set up analytics", "Write release notes" });

    for (0..2) |_| try board.click(.button, "Move Write release notes left");
    try board.expectColumn("Todo", &seeded_todo);
    try board.expectColumn("Doing", &seeded_doing);
    try board.expectColumn("Done", &seeded_done);
}

// ------------------------------------------------------------------- edges

test "a button that would leave the board is disabled and sends nothing" {
    var board: Board = undefined;
    try board.init();
    defer board.deinit();

    const off_left = try board.moveButton("Sketch the onboarding flow", "left");
    try testing.expect(off_left.state.disabled);
    try testing.expectEqual(@as(?Msg, null), board.tree.msgForPointer(off_left.id, .up));

    const off_right = try board.moveButton("Set up analytics", "right");
    try testing.expect(off_right.state.disabled);
    try testing.expectEqual(@as(?Msg, null), board.tree.msgForPointer(off_right.id, .up));

    // In the middle both ways are open.
    try testing.expect(!(try board.moveButton("Fix login timeout", "left")).state.disabled);
    try testing.expect(!(try board.moveButton("Fix login timeout", "right")).state.disabled);
}

test "update itself refuses a move past an edge, and one of an unknown card" {
    var board: Board = undefined;
    try board.init();
    defer board.deinit();

    const first = board.model.all()[0];
    try testing.expectEqual(main.Column.todo, first.column);
    try board.send(.{ .move_left = first.id });

    const last = board.model.all()[5];
    try testing.expectEqual(main.Column.done, last.column);
    try board.send(.{ .move_right = last.id });

    try board.send(.{ .move_right = 999 });

    // Nothing moved, not even within a column.
    try board.expectColumn("Todo", &seeded_todo);
    try board.expectColumn("Doing", &seeded_doing);
    try board.expectColumn("Done", &seeded_done);
}

// ---------------------------------------------------------------- identity

test "a card keeps its id when the view is built again" {
    var board: Board = undefined;
    try board.init();
    defer board.deinit();

    const card = try board.card("Fix login timeout");
    try board.click(.button, "Move Sketch the onboarding flow right");
    try testing.expectEqual(card.id, (try board.card("Fix login timeout")).id);
}

test "the blocked mark goes where its card goes" {
    var board: Board = undefined;
    try board.init();
    defer board.deinit();

    const title = "Fix login timeout";
    const id = board.model.all()[3].id;
    try board.clickInCard(title, .checkbox, "Blocked");
    _ = try find(board.tree.root, .status_bar, "6 of 60 cards, 1 blocked");

    try board.click(.button, "Move Fix login timeout right");
    const moved = try find(try board.column("Done"), .card, title);
    try testing.expect((try find(moved, .checkbox, "Blocked")).state.selected);
    try testing.expect(board.model.cardById(id).?.blocked);
    // The mark is this card's, not its place's.
    const stayed = try board.card("Review pricing page");
    try testing.expect(!(try find(stayed, .checkbox, "Blocked")).state.selected);

    try board.clickInCard(title, .checkbox, "Blocked");
    _ = try find(board.tree.root, .status_bar, "6 of 60 cards, 0 blocked");
}

// ------------------------------------------------------------------ adding

test "an added card lands at the bottom of Todo and moves like any other" {
    var board: Board = undefined;
    try board.init();
    defer board.deinit();

    try board.typeTitle("  Plan the launch ");
    try board.click(.button, "Add card");

    try board.expectColumn("Todo", &(seeded_todo ++ .{"Plan the launch"}));
    try testing.expectEqualStrings("", (try board.draftField()).text);

    try board.click(.button, "Move Plan the launch right");
    try board.expectColumn("Todo", &seeded_todo);
    try board.expectColumn("Doing", &(seeded_doing ++ .{"Plan the launch"}));
}

test "Enter in the field adds the card too" {
    var board: Board = undefined;
    try board.init();
    defer board.deinit();

    try board.typeTitle("Plan the launch");
    const field = try board.draftField();
    const enter: canvas.WidgetKeyboardEvent = .{ .phase = .key_down, .focused_id = field.id, .key = "enter" };
    try board.send(board.tree.msgForKeyboard(field.id, enter) orelse return error.ControlSendsNothing);

    try board.expectColumn("Todo", &(seeded_todo ++ .{"Plan the launch"}));
}

test "a blank title adds nothing" {
    var board: Board = undefined;
    try board.init();
    defer board.deinit();

    try testing.expect((try find(board.tree.root, .button, "Add card")).state.disabled);
    try board.typeTitle("   ");
    try testing.expect((try find(board.tree.root, .button, "Add card")).state.disabled);
    // Enter reaches update without the button.
    try board.send(.add_card);
    try board.expectColumn("Todo", &seeded_todo);
}

test "two cards with one title are still two cards" {
    var board: Board = undefined;
    try board.init();
    defer board.deinit();

    for (0..2) |_| {
        try board.typeTitle("Twin");
        try board.click(.button, "Add card");
    }
    const all = board.model.all();
    try testing.expect(all[6].id != all[7].id);
    try board.send(.{ .move_right = all[7].id });
    try board.expectColumn("Todo", &(seeded_todo ++ .{"Twin"}));
    try board.expectColumn("Doing", &(seeded_doing ++ .{"Twin"}));
}

test "a full board takes no more cards" {
    var board: Board = undefined;
    try board.init();
    defer board.deinit();

    fill(&board.model);
    try board.rebuild();
    try board.typeTitle("One too many");
    try testing.expect((try find(board.tree.root, .button, "Add card")).state.disabled);
    try board.send(.add_card);
    try testing.expectEqual(main.max_cards, board.model.card_count);
    // The draft is kept: the user can still use the words.
    try testing.expectEqualStrings("One too many", (try board.draftField()).text);
}

fn fill(model: *Model) void {
    while (model.card_count < main.max_cards) {
        main.update(model, .{ .draft_edit = .{ .insert_text = "Filler" } });
        main.update(model, .add_card);
    }
}

// ----------------------------------------------- layout and accessibility

test "the columns stand side by side, equally wide, cards inside" {
    var board: Board = undefined;
    try board.init();
    defer board.deinit();

    const nodes = try testing.allocator.alloc(canvas.WidgetLayoutNode, 256);
    defer testing.allocator.free(nodes);
    const size = main.window_size;
    const layout = try canvas.layoutWidgetTree(board.tree.root, geometry.RectF.init(0, 0, size.width, size.height), nodes);

    var right_edge: f32 = 0;
    const width = (try frameOf(layout, (try board.column("Todo")).id)).width;
    for (columns) |name| {
        const frame = try frameOf(layout, (try board.column(name)).id);
        try testing.expect(frame.x >= right_edge);
        try testing.expectApproxEqAbs(width, frame.width, 0.5);
        right_edge = frame.x + frame.width;
    }
    try testing.expect(right_edge <= size.width);

    const todo = try frameOf(layout, (try board.column("Todo")).id);
    var previous_bottom = todo.y;
    for (seeded_todo) |title| {
        const frame = try frameOf(layout, (try board.card(title)).id);
        try testing.expect(frame.x >= todo.x and frame.x + frame.width <= todo.x + todo.width);
        try testing.expect(frame.y >= previous_bottom);
        previous_bottom = frame.y + frame.height;
    }
    try testing.expect(previous_bottom <= todo.y + todo.height);
}

fn frameOf(layout: canvas.WidgetLayoutTree, id: canvas.ObjectId) !geometry.RectF {
    for (layout.nodes) |node| {
        if (node.widget.id == id) return node.frame;
    }
    return error.WidgetNotFound;
}

test "nothing overflows and every control is named, at every window size" {
    var board: Board = undefined;
    try board.init();
    defer board.deinit();

    try canvas.expectLayoutAuditSweepClean(testing.allocator, board.tree.root, .{
        .min_size = main.window_min_size,
        .default_size = main.window_size,
    });
    try canvas.expectA11yAuditSweepClean(testing.allocator, board.tree.root, .{
        .min_size = main.window_min_size,
        .default_size = main.window_size,
    });
}

// ---------------------------------------------- the running app, headless

/// The real app loop on the platform that draws nothing.
const Running = struct {
    harness: *native_sdk.TestHarness(),
    app_state: *main.BoardApp,
    snapshot_buffer: []u8,

    fn start(model: Model) !Running {
        const harness = try native_sdk.TestHarness().create(testing.allocator, .{ .size = main.window_size });
        errdefer harness.destroy(testing.allocator);
        harness.null_platform.gpu_surfaces = true;

        const app_state = try main.BoardApp.create(testing.allocator, main.appOptions());
        errdefer app_state.destroy();
        app_state.model = model;

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

    fn stop(running: Running) void {
        testing.allocator.free(running.snapshot_buffer);
        running.app_state.destroy();
        running.harness.destroy(testing.allocator);
    }

    /// The text that a live app publishes to the automation harness.
    fn snapshot(running: Running) ![]const u8 {
        var writer = std.Io.Writer.fixed(running.snapshot_buffer);
        try native_sdk.automation.snapshot.writeText(running.harness.runtime.automationSnapshot("Kanban Board"), &writer);
        return writer.buffered();
    }
};

/// The first line of the snapshot that has every one of these parts.
fn findLine(text: []const u8, parts: []const []const u8) ?[]const u8 {
    var lines = std.mem.splitScalar(u8, text, '\n');
    next: while (lines.next()) |line| {
        for (parts) |part| {
            if (std.mem.indexOf(u8, line, part) == null) continue :next;
        }
        return line;
    }
    return null;
}

test "the running board announces its columns, cards and buttons" {
    const running = try Running.start(main.initialModel());
    defer running.stop();

    const text = try running.snapshot();
    for ([_][]const []const u8{
        &.{ "role=group", "name=\"Todo\"" },
        &.{ "role=group", "name=\"Doing\"" },
        &.{ "role=group", "name=\"Done\"" },
        &.{ "role=list ", "name=\"Cards in Todo\"" },
        &.{ "role=listitem", "name=\"Sketch the onboarding flow\"" },
        &.{ "role=button", "name=\"Add card\"" },
        &.{ "role=button", "name=\"Move Sketch the onboarding flow left\"", "enabled=false" },
        &.{ "role=button", "name=\"Move Sketch the onboarding flow right\"", "enabled=true" },
    }) |parts| {
        if (findLine(text, parts) != null) continue;
        std.debug.print("no snapshot line has {s} {s}\n", .{ parts[0], parts[1] });
        return error.NotAnnounced;
    }
}

test "a full board stays inside the runtime's budgets" {
    var model = main.initialModel();
    fill(&model);
    // The harness passes errors on, so a budget that overflowed fails here.
    const running = try Running.start(model);
    defer running.stop();
    try testing.expect(findLine(try running.snapshot(), &.{"name=\"60 of 60 cards, 0 blocked\""}) != null);
}
