//! What the prompt of ts-tag-input-core promises, on the emitted core.

const std = @import("std");
const core = @import("core.zig");
const drive = @import("drive.zig");

const expectEqual = std.testing.expectEqual;
const expectNumber = drive.expectNumber;
const expectText = drive.expectText;

const App = drive.App(core);

fn start() !App {
    return App.init(std.testing.allocator);
}

fn expectTags(app: App, texts: []const []const u8) !void {
    try expectNumber(texts.len, app.model.tags.len);
    for (texts, app.model.tags) |text, tag| try expectText(text, tag.text);
}

fn expectIds(app: App, ids: []const i64) !void {
    try expectNumber(ids.len, app.model.tags.len);
    for (ids, app.model.tags) |id, tag| try expectNumber(id, tag.id);
}

test "it starts empty" {
    var app = try start();
    defer app.deinit();
    try expectTags(app, &.{});
    try expectText("", app.model.draft);
    try expectNumber(1, app.model.nextId);
    try expectText("", core.joined(app.model));
    try expectEqual(false, core.isFull(app.model));
}

test "a draft without a comma is kept as it is" {
    var app = try start();
    defer app.deinit();
    try app.send("edit_draft", .{ .text = " zig " });
    try expectText(" zig ", app.model.draft);
    try expectTags(app, &.{});
}

test "commit turns the draft into a tag, and empties it" {
    var app = try start();
    defer app.deinit();
    try app.send("edit_draft", .{ .text = "\t zig lang \r\n" });
    try app.send("commit", .{});
    try expectTags(app, &.{"zig lang"});
    try expectIds(app, &.{1});
    try expectText("", app.model.draft);
}

test "a blank draft commits nothing, and is emptied" {
    var app = try start();
    defer app.deinit();
    try app.send("edit_draft", .{ .text = " \t " });
    try app.send("commit", .{});
    try expectTags(app, &.{});
    try expectText("", app.model.draft);
}

test "a comma makes a tag while one types" {
    var app = try start();
    defer app.deinit();
    try app.send("edit_draft", .{ .text = "one," });
    try expectTags(app, &.{"one"});
    try expectText("", app.model.draft);
    try app.send("edit_draft", .{ .text = " two , three,  fo" });
    try expectTags(app, &.{ "one", "two", "three" });
    try expectText("  fo", app.model.draft);
    try expectIds(app, &.{ 1, 2, 3 });
}

test "parts with nothing in them are no tags" {
    var app = try start();
    defer app.deinit();
    try app.send("edit_draft", .{ .text = ", ,\t,a,, b ,," });
    try expectTags(app, &.{ "a", "b" });
    try expectText("", app.model.draft);
    try app.send("paste", .{ .text = "" });
    try app.send("paste", .{ .text = ",,," });
    try expectTags(app, &.{ "a", "b" });
}

test "paste makes tags of the last part too, and leaves the draft" {
    var app = try start();
    defer app.deinit();
    try app.send("edit_draft", .{ .text = "dra" });
    try app.send("paste", .{ .text = "x, y\n,z" });
    try expectTags(app, &.{ "x", "y", "z" });
    try expectText("dra", app.model.draft);
}

test "a tag is there once, whatever its case; the first spelling stays" {
    var app = try start();
    defer app.deinit();
    try app.send("paste", .{ .text = "Zig, Native UI" });
    try app.send("paste", .{ .text = "zig" });
    try app.send("edit_draft", .{ .text = " NATIVE ui " });
    try app.send("commit", .{});
    try expectTags(app, &.{ "Zig", "Native UI" });
    try expectText("", app.model.draft);
}

test "a tag that is twice in one text comes once" {
    var app = try start();
    defer app.deinit();
    try app.send("paste", .{ .text = "red, RED, blue, Red" });
    try expectTags(app, &.{ "red", "blue" });
    try app.send("edit_draft", .{ .text = "green,GREEN," });
    try expectTags(app, &.{ "red", "blue", "green" });
    try expectIds(app, &.{ 1, 2, 3 });
}

test "what only begins alike is another tag" {
    var app = try start();
    defer app.deinit();
    try app.send("paste", .{ .text = "ui, ui kit, u, uis" });
    try expectTags(app, &.{ "ui", "ui kit", "u", "uis" });
}

test "there are at most eight" {
    var app = try start();
    defer app.deinit();
    try app.send("paste", .{ .text = "a,b,c,d,e,f,g" });
    try expectEqual(false, core.isFull(app.model));
    try app.send("paste", .{ .text = "A,h,i,j" });
    try expectTags(app, &.{ "a", "b", "c", "d", "e", "f", "g", "h" });
    try expectEqual(true, core.isFull(app.model));
    try app.send("edit_draft", .{ .text = "k" });
    try app.send("commit", .{});
    try expectNumber(8, app.model.tags.len);
    try expectText("", app.model.draft);
    try app.send("remove", .{ .id = 1 });
    try app.send("paste", .{ .text = "k" });
    try expectText("k", app.model.tags[7].text);
}

test "remove takes one away, and no id comes twice" {
    var app = try start();
    defer app.deinit();
    try app.send("paste", .{ .text = "a,b,c" });
    try app.send("remove", .{ .id = 3 });
    try app.send("remove", .{ .id = 33 });
    try expectTags(app, &.{ "a", "b" });
    try app.send("paste", .{ .text = "c" });
    try expectIds(app, &.{ 1, 2, 4 });
}

test "backspace takes the last tag where the draft is empty" {
    var app = try start();
    defer app.deinit();
    try app.send("backspace", .{});
    try app.send("paste", .{ .text = "a,b" });
    try app.send("edit_draft", .{ .text = " " });
    try app.send("backspace", .{});
    try expectTags(app, &.{ "a", "b" });
    try expectText(" ", app.model.draft);
    try app.send("edit_draft", .{ .text = "" });
    try app.send("backspace", .{});
    try expectTags(app, &.{"a"});
    try app.send("backspace", .{});
    try app.send("backspace", .{});
    try expectTags(app, &.{});
}

test "joined is all of them on a line" {
    var app = try start();
    defer app.deinit();
    try app.send("paste", .{ .text = "caf\u{e9}" });
    try expectText("caf\u{e9}", core.joined(app.model));
    try app.send("paste", .{ .text = "b c, d" });
    try expectText("caf\u{e9}, b c, d", core.joined(app.model));
}

test "hasTag goes by the same rule" {
    var app = try start();
    defer app.deinit();
    try app.send("paste", .{ .text = "Native UI" });
    try expectEqual(true, core.hasTag(app.model, "native ui"));
    try expectEqual(true, core.hasTag(app.model, " NATIVE UI\t"));
    try expectEqual(false, core.hasTag(app.model, "native"));
    try expectEqual(false, core.hasTag(app.model, ""));
}

test "tags outlive the dispatch that they came with" {
    var app = try start();
    defer app.deinit();
    try app.send("edit_draft", .{ .text = "one, two" });
    for (0..3000) |_| try app.send("edit_draft", .{ .text = "something else that is typed" });
    try expectTags(app, &.{"one"});
}
