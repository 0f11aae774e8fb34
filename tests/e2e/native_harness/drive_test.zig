//! The driver over a real transpiled core (src/core.ts): what is in flight, and what answers do.

const std = @import("std");
const core = @import("core.zig");
const cmdview = @import("cmdview.zig");
const drive = @import("drive.zig");

const expect = std.testing.expect;
const expectEqual = std.testing.expectEqual;
const expectNumber = drive.expectNumber;
const expectText = drive.expectText;
const expectMember = drive.expectMember;

const App = drive.App(core);

fn start() !App {
    return App.init(std.testing.allocator);
}

test "the boot command is in flight, and its answer comes as a message" {
    var app = try start();
    defer app.deinit();
    try expectText("boot.txt", (try app.only(.read_file)).path);
    try app.readDone(0, "hello");
    try expectText("hello", app.model.text);
    try expectEqual(0, app.live(.read_file));
    try expectEqual(1, app.started(.read_file));
}

test "messages are made from TypeScript's names: records, enums, null, lists, unions, integers and fractions" {
    var app = try start();
    defer app.deinit();
    try app.send("add", .{ .title = "Lunch", .category = "food", .parts = .{ 1, 2.5 } });
    try app.send("add", .{ .title = "Flat", .category = "rent", .parts = .{} });
    try expectNumber(2, app.model.items.len);
    try expectText("Lunch", app.model.items[0].title);
    try expectMember("rent", app.model.items[1].category);
    try expectNumber(2.5, app.model.items[0].parts[1]);
    try app.send("filter", .{ .category = "rent" });
    try expectText("Flat", core.shown(app.model)[0].title);
    try app.send("filter", .{ .category = null });
    try expectNumber(2, core.shown(app.model).len);
    try app.send("pin", .{ .item = .{ .id = 9, .title = "Pinned", .category = "food", .parts = .{4} } });
    try expectText("Pinned", app.model.pinned.?.title);
    try app.send("scale", .{ .ratio = 3 });
    try expectNumber(3, app.model.ratio);
    try app.send("edit", .{ .edit = .{ .insert_text = .{ .text = "ab" } } });
    try app.send("edit", .{ .edit = "delete_backward" });
    try expectText("a", app.model.draft.text);
}

test "the model is what was committed: it outlives any number of dispatches" {
    var app = try start();
    defer app.deinit();
    try app.send("add", .{ .title = "kept", .category = "food", .parts = .{7} });
    for (0..20_000) |_| try app.send("scale", .{ .ratio = 0.25 });
    try expectText("kept", app.model.items[0].title);
    try expect(core.rt.stat_compactions > 0);
}

test "a fetch is replaced by a second one, and answered or not" {
    var app = try start();
    defer app.deinit();
    try app.send("load", .{});
    try app.send("load", .{});
    const fetch = try app.only(.fetch);
    try expectEqual(2, app.started(.fetch));
    try expectEqual(.GET, fetch.method);
    try expectText("https://api.test/rows", fetch.url);
    try expectText("application/json", fetch.headers.get("accept").?);
    try app.fetchDone(0, 404, "none");
    try expectMember("done", app.model.phase);
    try expectNumber(404, app.model.status);
    try expectText("none", app.model.text);
    try app.send("load", .{});
    try app.fetchFailed(0, "timed_out");
    try expectText("timed_out", app.model.text);
    try app.send("load", .{});
    try app.send("stop", .{});
    try expectEqual(0, app.live(.fetch));
    try expectText("timed_out", app.model.text); // what is cancelled says nothing
}

test "a file is written with its exact bytes" {
    var app = try start();
    defer app.deinit();
    try app.send("save", .{ .text = "a,\"b\"\r\n" });
    const writing = try app.only(.write_file);
    try expectText("out.csv", writing.path);
    try expectText("a,\"b\"\r\n", writing.bytes);
    try app.writeDone(0);
    try expectMember("done", app.model.phase);
    try app.send("save", .{ .text = "" });
    try app.writeFailed(0, "io_failed");
    try expectText("io_failed", app.model.text);
}

test "a delay is armed anew by its key, fires once, and is cancelled in silence" {
    var app = try start();
    defer app.deinit();
    try app.send("run", .{});
    try app.send("run", .{});
    try expectNumber(800, (try app.only(.delay)).after_ms);
    const before = app.clock_ms;
    try app.delayFires(0);
    try expectNumber(before + 800, app.model.at);
    try expectEqual(0, app.live(.delay));
    try app.send("run", .{});
    try app.send("stop", .{});
    try expectEqual(0, app.live(.delay));
}

test "timers are those that the model declares" {
    var app = try start();
    defer app.deinit();
    try expectEqual(0, app.timers());
    try app.send("run", .{});
    try expectEqual(2, app.timers());
    try expectText("tick", app.timer(0).?.key);
    try expectNumber(60_000, app.timer(1).?.every_ms);
    const before = app.clock_ms;
    try app.timerFires(0);
    try expectNumber(before + 1000, app.model.at);
}

test "a program's collected output comes with its end" {
    var app = try start();
    defer app.deinit();
    try app.send("probe", .{});
    const spawn = try app.only(.spawn);
    try expectEqual(2, spawn.argv.len);
    try expectText("uname", spawn.argv.at(0));
    try expect(spawn.collect);
    try app.send("probe", .{}); // its key is live: refused, and said so
    try expectEqual(1, app.live(.spawn));
    try expectText("rejected", app.model.text);
    try app.spawnExit(0, 3, "Linux");
    try expectNumber(3, app.model.status);
    try expectText("Linux", app.model.text);
    try app.send("probe", .{});
    try app.spawnFailed(0, "spawn_failed");
    try expectText("spawn_failed", app.model.text);
}

test "a program that is followed sends lines until its end, or until it is cancelled aloud" {
    var app = try start();
    defer app.deinit();
    try app.send("follow", .{});
    try app.spawnLine(0, "one");
    try expectText("one", app.model.text);
    try expectEqual(1, app.live(.spawn));
    try app.spawnExit(0, 0, "");
    try expectMember("done", app.model.phase);
    try app.send("follow", .{});
    try app.send("stop", .{});
    try expectEqual(0, app.live(.spawn));
    try expectText("cancelled", app.model.text);
}

test "sound is one open stream" {
    var app = try start();
    defer app.deinit();
    try app.send("ring", .{});
    try expectText("bell.wav", app.audio.?.path);
    try expectEqual(1, app.started(.audio_play));
    try expectEqual(1, app.started(.audio_ctl));
    try app.audioEvent("loaded");
    try expectMember("idle", app.model.phase);
    try app.audioEvent("completed");
    try expectMember("done", app.model.phase);
    try app.send("hush", .{});
    try expectEqual(null, app.audio);
}

test "the time is told at once" {
    var app = try start();
    defer app.deinit();
    app.clock_ms = 12_345.5;
    try app.send("stamp", .{});
    try expectNumber(12_345.5, app.model.at);
}

test "what has no answer is only noted" {
    var app = try start();
    defer app.deinit();
    try app.send("many", .{});
    try expectEqual(.{ 1, 1, 1, 1 }, .{ app.started(.host), app.started(.clip_write), app.started(.window_show), app.started(.quit_app) });
}

test "what is not in flight cannot be answered" {
    var app = try start();
    defer app.deinit();
    try std.testing.expectError(error.TestExpectedInFlight, app.fetchDone(0, 200, ""));
    try std.testing.expectError(error.TestExpectedTimer, app.timerFires(0));
    try std.testing.expectError(error.TestExpectedAudio, app.audioEvent("completed"));
}
