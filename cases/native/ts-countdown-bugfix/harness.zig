//! What the prompt of ts-countdown-bugfix promises, on the emitted core: one fault of the starter a test.

const std = @import("std");
const core = @import("core.zig");
const drive = @import("drive.zig");

const expectNumber = drive.expectNumber;

const App = drive.App(core);

fn start() !App {
    return App.init(std.testing.allocator);
}

fn expectState(app: App, phase: []const u8, remaining: i64, duration: i64) !void {
    try drive.expectMember(phase, app.model.phase);
    try expectNumber(remaining, app.model.remaining);
    try expectNumber(duration, app.model.duration);
}

fn ticks(app: *App, count: usize) !void {
    for (0..count) |_| try app.send("tick", .{});
}

/// An idle countdown of so many seconds, by whatever set_duration does to an idle one of full length.
fn of(seconds: i64) !App {
    var app = try start();
    try app.send("set_duration", .{ .seconds = seconds });
    return app;
}

// ---- what is right in the starter ----
test "it starts idle, with five minutes" {
    var app = try start();
    defer app.deinit();
    try expectState(app, "idle", 300, 300);
    try expectNumber(0, app.model.completed);
    try expectNumber(5, core.minutesLeft(app.model));
    try expectNumber(0, core.secondsLeft(app.model));
}

test "start, tick and pause" {
    var app = try start();
    defer app.deinit();
    try app.send("pause", .{});
    try expectState(app, "idle", 300, 300);
    try app.send("start", .{});
    try ticks(&app, 70);
    try expectState(app, "running", 230, 300);
    try app.send("start", .{});
    try expectState(app, "running", 230, 300);
    try expectNumber(3, core.minutesLeft(app.model));
    try expectNumber(50, core.secondsLeft(app.model));
    try app.send("pause", .{});
    try expectState(app, "paused", 230, 300);
    try app.send("start", .{});
    try ticks(&app, 1);
    try expectState(app, "running", 229, 300);
}

// ---- its faults, one by one ----
test "a tick means nothing while idle" {
    var app = try start();
    defer app.deinit();
    try ticks(&app, 3);
    try expectState(app, "idle", 300, 300);
}

test "a tick means nothing while paused" {
    var app = try start();
    defer app.deinit();
    try app.send("start", .{});
    try ticks(&app, 10);
    try app.send("pause", .{});
    try ticks(&app, 3);
    try expectState(app, "paused", 290, 300);
}

test "the last second ends the run" {
    var app = try of(3);
    defer app.deinit();
    try app.send("start", .{});
    try ticks(&app, 2);
    try expectState(app, "running", 1, 3);
    try expectNumber(0, app.model.completed);
    try ticks(&app, 1);
    try expectState(app, "done", 0, 3);
    try expectNumber(1, app.model.completed);
}

test "ticks after the end leave it at zero, and complete nothing more" {
    var app = try of(2);
    defer app.deinit();
    try app.send("start", .{});
    try ticks(&app, 5);
    try expectState(app, "done", 0, 2);
    try expectNumber(1, app.model.completed);
    try expectNumber(0, core.secondsLeft(app.model));
    try app.send("pause", .{});
    try expectState(app, "done", 0, 2);
}

test "a countdown that is done starts over, and is counted again" {
    var app = try of(2);
    defer app.deinit();
    try app.send("start", .{});
    try ticks(&app, 2);
    try app.send("start", .{});
    try expectState(app, "running", 2, 2);
    try ticks(&app, 2);
    try expectState(app, "done", 0, 2);
    try expectNumber(2, app.model.completed);
}

test "reset goes back to the duration that was set" {
    var app = try of(90);
    defer app.deinit();
    try app.send("start", .{});
    try ticks(&app, 20);
    try app.send("reset", .{});
    try expectState(app, "idle", 90, 90);
}

test "reset after the end keeps what was completed" {
    var app = try of(1);
    defer app.deinit();
    try app.send("start", .{});
    try ticks(&app, 1);
    try app.send("reset", .{});
    try expectState(app, "idle", 1, 1);
    try expectNumber(1, app.model.completed);
}

test "a new duration leaves a run as it is" {
    var app = try start();
    defer app.deinit();
    try app.send("start", .{});
    try ticks(&app, 10);
    try app.send("set_duration", .{ .seconds = 60 });
    try expectState(app, "running", 290, 60);
    try app.send("pause", .{});
    try app.send("set_duration", .{ .seconds = 120 });
    try expectState(app, "paused", 290, 120);
    try app.send("reset", .{});
    try expectState(app, "idle", 120, 120);
}

test "a new duration after the end makes it idle" {
    var app = try of(1);
    defer app.deinit();
    try app.send("start", .{});
    try ticks(&app, 1);
    try app.send("set_duration", .{ .seconds = 45 });
    try expectState(app, "idle", 45, 45);
}

test "a duration is one second at least" {
    var app = try of(0);
    defer app.deinit();
    try expectState(app, "idle", 1, 1);
    try app.send("set_duration", .{ .seconds = -20 });
    try expectState(app, "idle", 1, 1);
}

test "a duration is an hour at most" {
    var app = try of(5000);
    defer app.deinit();
    try expectState(app, "idle", 3600, 3600);
}
