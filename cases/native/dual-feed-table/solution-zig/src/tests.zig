//! Requests that are answered by the tests: both orders, and each way in which a
//! request can end.

const std = @import("std");
const native_sdk = @import("native_sdk");
const main = @import("main.zig");

const canvas = native_sdk.canvas;
const testing = std.testing;

const feed =
    \\[{"id": 3, "title": "pears", "score": 5, "comments": 1},
    \\ {"id": 1, "title": "Zebras", "score": 9, "comments": 0},
    \\ {"id": 2, "title": "PEARS", "score": 5, "comments": 7}]
;

/// The model, the view of it, and a channel that uses no network.
const Table = struct {
    arena_state: std.heap.ArenaAllocator,
    model: main.Model,
    fx: main.Effects,
    tree: main.AppUi.Tree,

    fn init(table: *Table) !void {
        table.arena_state = .init(testing.allocator);
        table.model = main.initialModel();
        table.fx = .init(testing.allocator);
        table.fx.executor = .fake;
        try table.rebuild();
    }

    fn deinit(table: *Table) void {
        table.fx.deinit();
        table.arena_state.deinit();
    }

    fn rebuild(table: *Table) !void {
        const arena = table.arena_state.allocator();
        var view = try canvas.MarkupView(main.Model, main.Msg).init(arena, main.app_markup);
        var ui = main.AppUi.init(arena);
        const node = view.build(&ui, &table.model) catch |err| {
            if (err == error.MarkupBuild) {
                std.debug.print("app.native:{d}:{d}: {s}\n", .{ view.diagnostic.line, view.diagnostic.column, view.diagnostic.message });
            }
            return err;
        };
        table.tree = try ui.finalize(node);
    }

    fn press(table: *Table, kind: canvas.WidgetKind, text: []const u8) !void {
        const control = find(table.tree.root, kind, text) orelse return error.WidgetNotFound;
        const msg = table.tree.msgForPointer(control.id, .up) orelse return error.ControlSendsNothing;
        main.update(&table.model, msg, &table.fx);
        try table.rebuild();
    }

    fn sortBy(table: *Table, order: main.Order) !void {
        main.update(&table.model, .{ .sort_by = order }, &table.fx);
        try table.rebuild();
    }

    fn answer(table: *Table, outcome: native_sdk.EffectFetchOutcome, status: u16, body: []const u8) !void {
        try table.fx.feedResponseOutcome(table.fx.pendingFetchAt(0).?.key, outcome, status, body);
        while (table.fx.takeMsg()) |msg| main.update(&table.model, msg, &table.fx);
        try table.rebuild();
    }

    fn expectStatus(table: *const Table, status: []const u8) !void {
        if (find(table.tree.root, .status_bar, status) != null) return;
        std.debug.print("the status bar does not say \"{s}\"\n", .{status});
        return error.WidgetNotFound;
    }

    /// The first cell of each row below the head.
    fn expectTitles(table: *const Table, titles: []const []const u8) !void {
        var left: usize = 0;
        try expectTitlesIn(table.tree.root, titles, &left);
        try testing.expectEqual(titles.len + @intFromBool(titles.len > 0), left);
    }
};

fn expectTitlesIn(widget: canvas.Widget, titles: []const []const u8, seen: *usize) !void {
    if (widget.kind == .data_row) {
        if (seen.* > 0) try testing.expectEqualStrings(titles[seen.* - 1], widget.children[0].text);
        seen.* += 1;
        return;
    }
    for (widget.children) |child| try expectTitlesIn(child, titles, seen);
}

fn find(widget: canvas.Widget, kind: canvas.WidgetKind, text: []const u8) ?canvas.Widget {
    if (widget.kind == kind and std.mem.eql(u8, widget.text, text)) return widget;
    for (widget.children) |child| {
        if (find(child, kind, text)) |found| return found;
    }
    return null;
}

test "nothing is fetched before the button is pressed" {
    var table: Table = undefined;
    try table.init();
    defer table.deinit();
    try testing.expectEqual(0, table.fx.pendingFetchCount());
    try table.expectStatus("Nothing loaded yet");
    try table.expectTitles(&.{});
}

test "the button asks once, and is unavailable until the answer" {
    var table: Table = undefined;
    try table.init();
    defer table.deinit();
    try table.press(.button, "Refresh");
    const request = table.fx.pendingFetchAt(0).?;
    try testing.expectEqual(std.http.Method.GET, request.method);
    try testing.expectEqualStrings(main.feed_url, request.url);
    try table.expectStatus("Loading");
    try testing.expect(find(table.tree.root, .button, "Refresh").?.state.disabled);

    // Asked for by some other way, there is still one request, and no refusal.
    main.update(&table.model, .refresh, &table.fx);
    try testing.expectEqual(1, table.fx.pendingFetchCount());
    try testing.expectEqual(null, table.fx.takeMsg());

    try table.answer(.ok, 200, feed);
    try table.expectStatus("3 stories");
    try testing.expect(!find(table.tree.root, .button, "Refresh").?.state.disabled);
}

test "both orders leave equal stories as they came" {
    var table: Table = undefined;
    try table.init();
    defer table.deinit();
    try table.press(.button, "Refresh");
    try table.answer(.ok, 200, feed);
    try table.expectTitles(&.{ "Zebras", "pears", "PEARS" });
    try table.sortBy(.title);
    try table.expectTitles(&.{ "pears", "PEARS", "Zebras" });
    try table.sortBy(.score);
    try table.expectTitles(&.{ "Zebras", "pears", "PEARS" });
}

test "each way in which a request goes wrong is told, and the stories stay" {
    var table: Table = undefined;
    try table.init();
    defer table.deinit();
    try table.press(.button, "Refresh");
    try table.answer(.ok, 200, feed);

    const ends = [_]struct { native_sdk.EffectFetchOutcome, u16, []const u8, []const u8 }{
        .{ .ok, 503, "[]", "Could not load: status 503" },
        .{ .ok, 200, "{}", "Could not load: unreadable answer" },
        .{ .ok, 200, feed[0 .. feed.len - 1], "Could not load: unreadable answer" },
        .{ .ok, 200, feed ++ ",", "Could not load: unreadable answer" },
        .{ .ok, 200, "[{\"id\":1,\"title\":\"t\",\"score\":1}]", "Could not load: unreadable answer" },
        .{ .timed_out, 0, "", "Could not load: no answer" },
        .{ .rejected, 0, "", "Could not load: no answer" },
    };
    for (ends) |how| {
        try table.press(.button, "Refresh");
        try table.expectTitles(&.{ "Zebras", "pears", "PEARS" });
        try table.answer(how[0], how[1], how[2]);
        try table.expectStatus(how[3]);
        try table.expectTitles(&.{ "Zebras", "pears", "PEARS" });
    }

    try table.press(.button, "Refresh");
    try table.answer(.ok, 200, " [ ] ");
    try table.expectStatus("The feed is empty");
    try table.expectTitles(&.{});
}

test "an answer that came cut off is unreadable, also where it ends well" {
    var table: Table = undefined;
    try table.init();
    defer table.deinit();
    main.update(&table.model, .{ .fetched = .{ .key = 1, .status = 200, .body = feed, .truncated = true } }, &table.fx);
    try testing.expectEqual(main.State.failed, table.model.state);
    try testing.expect(!table.model.hasRows());
}

test "escapes are undone, and titles as long as they may be are kept" {
    const parsed = try main.Feed.parse("[{\"id\":1,\"title\":\"a \\\"b\\\" \\\\\",\"score\":0,\"comments\":0}]");
    try testing.expectEqualStrings("a \"b\" \\", parsed.stories[0].title());
    const long: [main.max_title_bytes]u8 = @splat('t');
    const fits = "[{\"id\":1,\"title\":\"" ++ long ++ "\",\"score\":0,\"comments\":0}]";
    try testing.expectEqualStrings(&long, (try main.Feed.parse(fits)).stories[0].title());
    try testing.expectError(error.TitleTooLong, main.Feed.parse("[{\"id\":1,\"title\":\"t" ++ long ++ "\",\"score\":0,\"comments\":0}]"));
}

test "the view is laid out whole" {
    var table: Table = undefined;
    try table.init();
    defer table.deinit();
    try table.press(.button, "Refresh");
    try table.answer(.ok, 200, feed);
    const size = native_sdk.geometry.SizeF.init(640, 480);
    try canvas.expectLayoutAuditSweepClean(testing.allocator, table.tree.root, .{ .min_size = size, .default_size = size });
    try canvas.expectA11yAuditSweepClean(testing.allocator, table.tree.root, .{ .min_size = size, .default_size = size });
}
