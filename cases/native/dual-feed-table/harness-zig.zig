//! What the prompt of dual-feed-table promises, on the agent's own main.zig. harness-ts.zig asserts the same, test for test.

const std = @import("std");
const native_sdk = @import("native_sdk");
const main = @import("main.zig");
const drive = @import("eval_drive.zig");

const expectEqual = std.testing.expectEqual;
const expectNumber = drive.expectNumber;
const expectText = drive.expectText;

const App = drive.App(main);

const four =
    \\[
    \\  { "id": 7, "title": "Zig 0.16 is out", "score": 120, "comments": 48 },
    \\  { "id": 9, "title": "apples and pears", "score": 88, "comments": 5 },
    \\  { "id": 2, "title": "Bytes all the way", "score": 120, "comments": 0 },
    \\  { "id": 4, "title": "apples AND pears", "score": 301, "comments": 17 }
    \\]
    \\
;
const one = "[{\"id\":1,\"title\":\"Only this\",\"score\":3,\"comments\":1}]";

fn start() !App {
    return App.init(std.testing.allocator);
}

fn expectState(app: *const App, state: []const u8, status: []const u8) !void {
    try drive.expectMember(state, app.ask("state"));
    try expectText(status, app.ask("status"));
}

/// The ids of the rows, in their order.
fn expectRows(app: *const App, ids: []const i64) !void {
    const rows = app.ask("rows");
    try expectNumber(ids.len, rows.len);
    for (ids, rows) |id, *row| try expectNumber(id, app.askItem(row, "id"));
}

fn expectRow(app: *const App, index: usize, title: []const u8, score: i64, comments: i64) !void {
    const row = &app.ask("rows")[index];
    try expectText(title, app.askItem(row, "title"));
    try expectNumber(score, app.askItem(row, "score"));
    try expectNumber(comments, app.askItem(row, "comments"));
}

fn sortBy(app: *App, comptime order: []const u8) !void {
    try app.send(.{ .sort_by = @field(@FieldType(main.Msg, "sort_by"), order) });
}

/// The key of the one request that is on its way.
fn loading(app: *App) !u64 {
    try expectEqual(1, app.fx.pendingFetchCount());
    return app.fx.pendingFetchAt(0).?.key;
}

fn answer(app: *App, status: u16, body: []const u8) !void {
    try app.fx.feedResponse(try loading(app), status, body);
    try app.settle();
}

/// A whole refresh: asked for, and answered.
fn answered(app: *App, status: u16, body: []const u8) !void {
    try app.send(.refresh);
    try answer(app, status, body);
}

/// One that gets no answer.
fn unanswered(app: *App, outcome: native_sdk.EffectFetchOutcome) !void {
    try app.send(.refresh);
    try app.fx.feedResponseOutcome(try loading(app), outcome, 0, "");
    try app.settle();
}

test "it starts idle, by score, and fetches nothing" {
    var app = try start();
    defer app.deinit();
    try app.settle();
    try expectEqual(0, app.fx.pendingFetchCount());
    try expectState(&app, "idle", "Nothing loaded yet");
    try drive.expectMember("score", app.ask("order"));
    try expectRows(&app, &.{});
}

test "a refresh is one GET of the feed" {
    var app = try start();
    defer app.deinit();
    try app.send(.refresh);
    _ = try loading(&app);
    const fetch = app.fx.pendingFetchAt(0).?;
    try expectText("https://feed.example.com/v1/stories.json", fetch.url);
    try expectEqual(.GET, fetch.method);
    try expectText("", fetch.body);
    try expectEqual(.buffered, fetch.response);
    try expectState(&app, "loading", "Loading");
}

test "while a request is on its way there is no second one" {
    var app = try start();
    defer app.deinit();
    try app.send(.refresh);
    try app.send(.refresh);
    try app.send(.refresh);
    _ = try loading(&app);
    try expectState(&app, "loading", "Loading");
    try answer(&app, 200, one);
    try expectEqual(0, app.fx.pendingFetchCount());
    try expectState(&app, "loaded", "1 story");
}

test "the stories are shown, the highest score first, equal ones as they came" {
    var app = try start();
    defer app.deinit();
    try answered(&app, 200, four);
    try expectState(&app, "loaded", "4 stories");
    try expectRows(&app, &.{ 4, 7, 2, 9 });
    try expectRow(&app, 0, "apples AND pears", 301, 17);
    try expectRow(&app, 1, "Zig 0.16 is out", 120, 48);
    try expectRow(&app, 2, "Bytes all the way", 120, 0);
}

test "by title they go from A to Z, capital letters like small ones, equal ones as they came" {
    var app = try start();
    defer app.deinit();
    try answered(&app, 200, four);
    try sortBy(&app, "title");
    try drive.expectMember("title", app.ask("order"));
    try expectRows(&app, &.{ 9, 4, 2, 7 });
    try expectRow(&app, 3, "Zig 0.16 is out", 120, 48);
}

test "an order leaves no trace in the next one" {
    var app = try start();
    defer app.deinit();
    try answered(&app, 200, four);
    try sortBy(&app, "title");
    try sortBy(&app, "score");
    try drive.expectMember("score", app.ask("order"));
    try expectRows(&app, &.{ 4, 7, 2, 9 });
    try sortBy(&app, "score");
    try expectRows(&app, &.{ 4, 7, 2, 9 });
}

test "the order holds for later answers, whenever it is chosen" {
    var app = try start();
    defer app.deinit();
    try sortBy(&app, "title");
    try expectState(&app, "idle", "Nothing loaded yet");
    try app.send(.refresh);
    try sortBy(&app, "score");
    try sortBy(&app, "title");
    try expectState(&app, "loading", "Loading");
    try answer(&app, 200, four);
    try expectRows(&app, &.{ 9, 4, 2, 7 });
    try answered(&app, 200, one);
    try answered(&app, 200, four);
    try expectRows(&app, &.{ 9, 4, 2, 7 });
}

test "blanks and escapes are read as JSON means them" {
    var app = try start();
    defer app.deinit();
    const body = "\r\n [\t{\"id\" : 5 ,\n\"title\":\"The \\\"boring\\\" C:\\\\ parser, {[Zürich]}\",\"score\":0,\"comments\":1000000 }\n ,{\"id\":0,\"title\":\"\",\"score\":0,\"comments\":0}] \n";
    try answered(&app, 200, body);
    try expectState(&app, "loaded", "2 stories");
    try expectRows(&app, &.{ 5, 0 });
    try expectRow(&app, 0, "The \"boring\" C:\\ parser, {[Zürich]}", 0, 1000000);
    try expectRow(&app, 1, "", 0, 0);
}

test "forty stories with long titles are kept whole" {
    var app = try start();
    defer app.deinit();
    const title: [120]u8 = @splat('t');
    var buffer: [16 * 1024]u8 = undefined;
    var writer = std.Io.Writer.fixed(&buffer);
    for (0..40) |index| {
        try writer.print("{s}{{\"id\":{d},\"title\":\"{s}\",\"score\":{d},\"comments\":9}}", .{ if (index == 0) "[" else ",", index, title, index });
    }
    try writer.writeByte(']');
    try answered(&app, 200, writer.buffered());
    try expectState(&app, "loaded", "40 stories");
    try expectNumber(40, app.ask("rows").len);
    try expectRow(&app, 0, &title, 39, 9);
    try expectRow(&app, 39, &title, 0, 9);
}

test "a feed without stories is told, and replaces what was there" {
    var app = try start();
    defer app.deinit();
    try answered(&app, 200, four);
    try answered(&app, 200, " [ ] ");
    try expectState(&app, "empty", "The feed is empty");
    try expectRows(&app, &.{});
    try answered(&app, 200, "[]");
    try expectState(&app, "empty", "The feed is empty");
}

test "an answer with another status is told, and its body is not read" {
    var app = try start();
    defer app.deinit();
    try answered(&app, 503, four);
    try expectState(&app, "failed", "Could not load: status 503");
    try answered(&app, 404, "");
    try expectState(&app, "failed", "Could not load: status 404");
    try answered(&app, 201, one);
    try expectState(&app, "failed", "Could not load: status 201");
    try expectRows(&app, &.{});
}

test "a request without an answer is told" {
    for ([_]native_sdk.EffectFetchOutcome{ .connect_failed, .tls_failed, .protocol_failed, .timed_out, .rejected }) |outcome| {
        var app = try start();
        defer app.deinit();
        try unanswered(&app, outcome);
        try expectState(&app, "failed", "Could not load: no answer");
        try expectRows(&app, &.{});
    }
}

test "a body that is no feed is unreadable" {
    const bodies = [_][]const u8{
        "",
        "null",
        "{}",
        "<html></html>",
        "[",
        "[{\"id\":1,\"title\":\"Only this\",\"score\":3,\"comments\":1}",
        "[{\"id\":1,\"title\":\"Only this\",\"score\":3,\"comments\":1},",
        "[{\"id\":1,\"title\":\"Only this\",\"score\":3,\"comments\":1},]",
        "[{\"id\":1,\"title\":\"Only this\",\"score\":3,\"comments\":1}{\"id\":2,\"title\":\"No comma\",\"score\":3,\"comments\":1}]",
        "[{\"id\":1,\"title\":\"Only this",
        "[{\"id\":1,\"title\":\"Only this\\\",\"score\":3,\"comments\":1}]",
        "[{\"id\":1,\"title\":\"Only this\",\"score\":3}]",
        "[{\"id\":1,\"title\":\"Only this\",\"score\":,\"comments\":1}]",
        "[{\"id\":1,\"title\":\"Only this\",\"score\":true,\"comments\":1}]",
        "[{\"id\":1,\"title\":\"Only this\",\"score\":7.5,\"comments\":1}]",
        "[{\"id\":1,\"title\":null,\"score\":3,\"comments\":1}]",
        "[{\"id\":1,\"title\":\"Only this\",\"score\":3,\"comments\":1}] and more",
        "{\"error\":\"try later\"}",
    };
    for (bodies) |body| {
        errdefer std.debug.print("after this body: {s}\n", .{body});
        var app = try start();
        defer app.deinit();
        try answered(&app, 200, body);
        try expectState(&app, "failed", "Could not load: unreadable answer");
        try expectRows(&app, &.{});
    }
}

test "an answer that came cut off is unreadable" {
    var app = try start();
    defer app.deinit();
    try answered(&app, 200, one);
    // A good feed, and blanks until the channel takes no more.
    const long = try std.testing.allocator.alloc(u8, 300 * 1024);
    defer std.testing.allocator.free(long);
    @memset(long, ' ');
    @memcpy(long[0..four.len], four);
    try answered(&app, 200, long);
    try expectState(&app, "failed", "Could not load: unreadable answer");
    try expectRows(&app, &.{1});
}

test "the stories stay while a request is on its way and when it goes wrong" {
    var app = try start();
    defer app.deinit();
    try answered(&app, 200, four);
    try app.send(.refresh);
    try expectRows(&app, &.{ 4, 7, 2, 9 });
    try answer(&app, 500, one);
    try expectRows(&app, &.{ 4, 7, 2, 9 });
    try unanswered(&app, .timed_out);
    try expectRows(&app, &.{ 4, 7, 2, 9 });
    try answered(&app, 200, "[{\"id\":1,\"title\":\"Half a story\",\"score\":3,\"comments\":1},{\"id\":2");
    try expectState(&app, "failed", "Could not load: unreadable answer");
    try expectRows(&app, &.{ 4, 7, 2, 9 });
    try expectRow(&app, 0, "apples AND pears", 301, 17);
    try sortBy(&app, "title");
    try expectState(&app, "failed", "Could not load: unreadable answer");
    try expectRows(&app, &.{ 9, 4, 2, 7 });
}

test "after each kind of end it can be refreshed" {
    var app = try start();
    defer app.deinit();
    try answered(&app, 200, "[]");
    try answered(&app, 500, "");
    try answered(&app, 200, "no feed");
    try unanswered(&app, .connect_failed);
    try answered(&app, 200, four);
    try answered(&app, 200, one);
    try expectEqual(0, app.fx.pendingFetchCount());
    try expectState(&app, "loaded", "1 story");
    try expectRows(&app, &.{1});
}
