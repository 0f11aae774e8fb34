//! What a user does goes the way the running app takes it: find the control in
//! the built view, take the message that the view sends, give it to `update`,
//! and build the view again.

const std = @import("std");
const native_sdk = @import("native_sdk");
const main = @import("main.zig");

const canvas = native_sdk.canvas;
const testing = std.testing;

const Model = main.Model;
const Msg = main.Msg;
const ChatMarkup = canvas.MarkupView(Model, Msg);

/// A model with the view that was last built from it.
const Chat = struct {
    arena_state: std.heap.ArenaAllocator,
    model: Model,
    tree: main.AppUi.Tree,

    /// In place: the tree points into the arena and into the model.
    fn init(chat: *Chat) !void {
        chat.arena_state = .init(testing.allocator);
        errdefer chat.arena_state.deinit();
        chat.model = main.initialModel();
        try chat.rebuild();
    }

    fn deinit(chat: *Chat) void {
        chat.arena_state.deinit();
    }

    fn rebuild(chat: *Chat) !void {
        const arena = chat.arena_state.allocator();
        var view = try ChatMarkup.init(arena, main.app_markup);
        var ui = main.AppUi.init(arena);
        const node = view.build(&ui, &chat.model) catch |err| {
            if (err == error.MarkupBuild) {
                std.debug.print("app.native:{d}:{d}: {s}\n", .{ view.diagnostic.line, view.diagnostic.column, view.diagnostic.message });
            }
            return err;
        };
        chat.tree = try ui.finalize(node);
    }

    fn deliver(chat: *Chat, msg: ?Msg) !void {
        main.update(&chat.model, msg orelse return error.ControlSendsNothing);
        try chat.rebuild();
    }

    fn press(chat: *Chat, text: []const u8) !void {
        const button = try chat.find(.button, text);
        try chat.deliver(chat.tree.msgForPointer(button.id, .up));
    }

    fn typeText(chat: *Chat, text: []const u8) !void {
        const field = try chat.composer();
        try chat.deliver(chat.tree.msgForTextEdit(field.id, .{ .insert_text = text }));
    }

    fn composer(chat: *const Chat) !canvas.Widget {
        return search(chat.tree.root, .textarea, null) orelse error.WidgetNotFound;
    }

    fn find(chat: *const Chat, kind: canvas.WidgetKind, text: []const u8) !canvas.Widget {
        return search(chat.tree.root, kind, text) orelse {
            std.debug.print("the view has no {t} with \"{s}\"\n", .{ kind, text });
            return error.WidgetNotFound;
        };
    }

    fn expectSend(chat: *const Chat, possible: bool) !void {
        const button = try chat.find(.button, "Send");
        try testing.expectEqual(!possible, button.state.disabled);
        try testing.expectEqual(possible, chat.tree.msgForPointer(button.id, .up) != null);
    }

    /// The conversation is announced as exactly this, top to bottom.
    fn expectConversation(chat: *const Chat, expected: []const []const u8) !void {
        var found: [main.max_messages][]const u8 = undefined;
        var len: usize = 0;
        collectItems(chat.tree.root, &found, &len);
        try testing.expectEqual(expected.len, len);
        for (expected, found[0..len]) |want, have| try testing.expectEqualStrings(want, have);
    }
};

fn search(widget: canvas.Widget, kind: canvas.WidgetKind, text: ?[]const u8) ?canvas.Widget {
    if (widget.kind == kind and (text == null or std.mem.eql(u8, widget.text, text.?))) return widget;
    for (widget.children) |child| {
        if (search(child, kind, text)) |found| return found;
    }
    return null;
}

fn collectItems(widget: canvas.Widget, out: [][]const u8, len: *usize) void {
    if (widget.semantics.role == .listitem) {
        out[len.*] = widget.semantics.label;
        len.* += 1;
        return;
    }
    for (widget.children) |child| collectItems(child, out, len);
}

const seeded = [_][]const u8{
    "Mira: Are we still on for Friday?",
    "You: Yes, ten o'clock works.",
    "Mira: Great, I will book the room.",
};

test "the chat opens with the seeded messages and an empty draft" {
    var chat: Chat = undefined;
    try chat.init();
    defer chat.deinit();

    try chat.expectConversation(&seeded);
    _ = try chat.find(.text, "3 messages");
    _ = try chat.find(.text, "0 of 280");
    try chat.expectSend(false);
}

test "a draft can be sent, and becomes the last message" {
    var chat: Chat = undefined;
    try chat.init();
    defer chat.deinit();

    try chat.typeText("  See you there.\n");
    _ = try chat.find(.text, "17 of 280");
    try chat.expectSend(true);

    try chat.press("Send");
    try chat.expectConversation(&(seeded ++ .{"You: See you there."}));
    _ = try chat.find(.text, "4 messages");
    try testing.expectEqualStrings("", (try chat.composer()).text);
    try chat.expectSend(false);
}

test "the keyboard sends too" {
    var chat: Chat = undefined;
    try chat.init();
    defer chat.deinit();

    try chat.typeText("On my way");
    const field = try chat.composer();
    try chat.deliver(chat.tree.msgForKeyboard(field.id, .{
        .phase = .key_down,
        .focused_id = field.id,
        .key = "enter",
        .modifiers = .{ .super = true, .control = true },
    }));
    try chat.expectConversation(&(seeded ++ .{"You: On my way"}));
}

test "a draft of blanks and line breaks cannot be sent in any way" {
    var chat: Chat = undefined;
    try chat.init();
    defer chat.deinit();

    try chat.typeText(" \n\t \n");
    try chat.expectSend(false);
    try chat.deliver(.send);
    try chat.expectConversation(&seeded);
    // What was typed is not lost by trying.
    try testing.expectEqual(@as(usize, 5), chat.model.draftLength());
}

test "a quick reply goes to the end of the draft, apart from what is there" {
    var chat: Chat = undefined;
    try chat.init();
    defer chat.deinit();

    try chat.press("Yes");
    try testing.expectEqualStrings("Yes", (try chat.composer()).text);
    try chat.press("Thanks");
    try testing.expectEqualStrings("Yes Thanks", (try chat.composer()).text);
    try chat.typeText(", see you.\n");
    try chat.press("No");
    try testing.expectEqualStrings("Yes Thanks, see you.\nNo", (try chat.composer()).text);
    // It is a draft like any other: nothing was sent.
    try chat.expectConversation(&seeded);
    try chat.press("Send");
    try chat.expectConversation(&(seeded ++ .{"You: Yes Thanks, see you.\nNo"}));
}

test "a quick reply that would be cut off is not added" {
    var chat: Chat = undefined;
    try chat.init();
    defer chat.deinit();

    const long: [main.max_message_bytes - 3]u8 = @splat('x');
    try chat.typeText(&long);
    try chat.press("Yes");
    try testing.expectEqual(long.len, chat.model.draftLength());
    _ = try chat.find(.text, "277 of 280");
    try chat.press("No");
    try testing.expectEqual(@as(usize, 280), chat.model.draftLength());
}

test "a full conversation takes no more, and keeps the draft" {
    var chat: Chat = undefined;
    try chat.init();
    defer chat.deinit();

    fill(&chat.model);
    try chat.rebuild();
    try chat.typeText("One too many");
    try chat.expectSend(false);
    try chat.deliver(.send);
    try testing.expectEqual(main.max_messages, chat.model.message_count);
    try testing.expectEqualStrings("One too many", (try chat.composer()).text);
}

fn fill(model: *Model) void {
    while (model.message_count < main.max_messages) {
        main.update(model, .{ .insert = "Thanks" });
        main.update(model, .send);
    }
}

test "messages keep their identity when more come" {
    var chat: Chat = undefined;
    try chat.init();
    defer chat.deinit();

    const before = try chat.find(.text, "Are we still on for Friday?");
    try chat.typeText("Hello");
    try chat.press("Send");
    try testing.expectEqual(before.id, (try chat.find(.text, "Are we still on for Friday?")).id);
}

test "nothing overflows and every control is named, at every window size" {
    var chat: Chat = undefined;
    try chat.init();
    defer chat.deinit();

    try canvas.expectLayoutAuditSweepClean(testing.allocator, chat.tree.root, .{ .min_size = main.window_min_size, .default_size = main.window_size });
    try canvas.expectA11yAuditSweepClean(testing.allocator, chat.tree.root, .{ .min_size = main.window_min_size, .default_size = main.window_size });
}

// ---------------------------------------------- the running app, headless

/// The text that a live app publishes, for this model. The caller frees it.
fn snapshotOf(model: Model) ![]u8 {
    const harness = try native_sdk.TestHarness().create(testing.allocator, .{ .size = main.window_size });
    defer harness.destroy(testing.allocator);
    harness.null_platform.gpu_surfaces = true;

    const app_state = try main.ChatApp.create(testing.allocator, main.appOptions());
    defer app_state.destroy();
    app_state.model = model;
    try harness.start(app_state.app());
    // The harness passes errors on, so a budget that overflowed fails here.
    try harness.runtime.dispatchPlatformEvent(app_state.app(), .{ .gpu_surface_frame = .{
        .label = main.canvas_label,
        .size = main.window_size,
        .scale_factor = 1,
        .frame_index = 1,
        .timestamp_ns = 1_000_000,
        .nonblank = true,
    } });

    const buffer = try testing.allocator.alloc(u8, 256 * 1024);
    defer testing.allocator.free(buffer);
    var writer = std.Io.Writer.fixed(buffer);
    try native_sdk.automation.snapshot.writeText(harness.runtime.automationSnapshot("Team Chat"), &writer);
    return testing.allocator.dupe(u8, writer.buffered());
}

fn expectLine(text: []const u8, parts: []const []const u8) !void {
    var lines = std.mem.splitScalar(u8, text, '\n');
    next: while (lines.next()) |line| {
        for (parts) |part| {
            if (std.mem.indexOf(u8, line, part) == null) continue :next;
        }
        return;
    }
    std.debug.print("no line of the snapshot has {s} {s}\n{s}\n", .{ parts[0], parts[1], text });
    return error.NotAnnounced;
}

test "the running chat announces its composer, its replies and its messages" {
    const text = try snapshotOf(main.initialModel());
    defer testing.allocator.free(text);

    try expectLine(text, &.{ "role=textbox", "name=\"Message\"" });
    try expectLine(text, &.{ "role=group", "name=\"Quick replies\"" });
    try expectLine(text, &.{ "role=button", "name=\"Thanks\"", "enabled=true" });
    try expectLine(text, &.{ "role=button", "name=\"Send\"", "enabled=false" });
    for (seeded) |message| try expectLine(text, &.{ "role=listitem", message });
}

test "a full conversation of long messages stays inside the runtime's budgets" {
    var model = main.initialModel();
    const long = "Lorem ipsum dolor sit amet, consectetur adipiscing elit. " ** 4;
    while (model.message_count < main.max_messages) {
        main.update(&model, .{ .draft_edit = .{ .insert_text = long } });
        main.update(&model, .send);
    }
    const text = try snapshotOf(model);
    defer testing.allocator.free(text);
    try expectLine(text, &.{ "role=text", "name=\"60 messages\"" });
}
