//! What the prompt of dual-pomodoro-timer promises, on the emitted core. harness-zig.zig asserts the same, test for test.

const std = @import("std");
const core = @import("core.zig");
const drive = @import("drive.zig");

const expectEqual = std.testing.expectEqual;
const expectNumber = drive.expectNumber;
const expectText = drive.expectText;

const App = drive.App(core);
const focus_seconds = 25 * 60;
const rest_seconds = 5 * 60;

/// How many sounds were heard when a test last listened.
var heard: usize = 0;

fn start() !App {
    heard = 0;
    return App.init(std.testing.allocator);
}

/// A field of the model, or a function of it.
fn ask(app: App, comptime name: []const u8) Answer(name) {
    return if (comptime @hasField(core.Model, name)) @field(app.model, name) else @field(core, name)(app.model);
}

fn Answer(comptime name: []const u8) type {
    if (@hasField(core.Model, name)) return @FieldType(core.Model, name);
    return @typeInfo(@TypeOf(@field(core, name))).@"fn".return_type.?;
}

/// The phase, what is left of it, and whether it runs: then there is one timer of a second, else none.
fn expectPhase(app: App, phase: []const u8, remaining: i64, running: bool) !void {
    try drive.expectMember(phase, ask(app, "phase"));
    try expectNumber(remaining, ask(app, "remaining"));
    try expectEqual(running, ask(app, "running"));
    try expectEqual(@as(usize, @intFromBool(running)), app.timers());
    if (running) try expectEqual(1000, app.timer(0).?.every_ms);
    try expectEqual(0, app.live(.delay));
}

/// How many sounds there were since the last time.
fn expectSounds(app: App, count: usize) !void {
    const all = app.started(.audio_play);
    try expectEqual(count, all - heard);
    heard = all;
}

fn ticks(app: *App, count: usize) !void {
    for (0..count) |_| try app.timerFires(0);
}

/// One that was on its way when its timer ended.
fn lateTick(app: *App) !void {
    try app.send("tick", .{ .at = 1_700_000_000_000 });
}

test "it begins with a focus phase that does not run" {
    var app = try start();
    defer app.deinit();
    try expectPhase(app, "focus", focus_seconds, false);
    try expectNumber(0, ask(app, "completed"));
    try expectText("25:00", ask(app, "clock"));
    try expectText("0 focus phases done", ask(app, "summary"));
    try expectSounds(app, 0);
}

test "start arms one timer of a second, and no second one" {
    var app = try start();
    defer app.deinit();
    try app.send("start", .{});
    try expectPhase(app, "focus", focus_seconds, true);
    try ticks(&app, 2);
    try app.send("start", .{});
    try expectPhase(app, "focus", focus_seconds - 2, true);
    try expectText("24:58", ask(app, "clock"));
}

test "each tick takes one second off" {
    var app = try start();
    defer app.deinit();
    try app.send("start", .{});
    try ticks(&app, 1);
    try expectText("24:59", ask(app, "clock"));
    try ticks(&app, 60);
    try expectPhase(app, "focus", focus_seconds - 61, true);
    try expectText("23:59", ask(app, "clock"));
    try ticks(&app, 23 * 60 + 50);
    try expectText("00:09", ask(app, "clock"));
}

test "pause disarms the timer, and start goes on from there" {
    var app = try start();
    defer app.deinit();
    try app.send("start", .{});
    try ticks(&app, 10);
    try app.send("pause", .{});
    try expectPhase(app, "focus", focus_seconds - 10, false);
    try app.send("pause", .{});
    try expectPhase(app, "focus", focus_seconds - 10, false);
    try app.send("start", .{});
    try expectPhase(app, "focus", focus_seconds - 10, true);
    try ticks(&app, 1);
    try expectPhase(app, "focus", focus_seconds - 11, true);
}

test "a tick that comes while nothing runs changes nothing" {
    var app = try start();
    defer app.deinit();
    try lateTick(&app);
    try expectPhase(app, "focus", focus_seconds, false);
    try app.send("start", .{});
    try ticks(&app, focus_seconds - 1);
    try app.send("pause", .{});
    try lateTick(&app);
    try expectPhase(app, "focus", 1, false);
    try expectText("00:01", ask(app, "clock"));
    try expectNumber(0, ask(app, "completed"));
    try app.send("reset", .{});
    try lateTick(&app);
    try expectPhase(app, "focus", focus_seconds, false);
    try expectSounds(app, 0);
}

test "at the end of focus the rest begins, it is counted, and the sound is played" {
    var app = try start();
    defer app.deinit();
    try app.send("start", .{});
    try ticks(&app, focus_seconds - 1);
    try expectPhase(app, "focus", 1, true);
    try expectSounds(app, 0);
    try ticks(&app, 1);
    try expectPhase(app, "rest", rest_seconds, true);
    try expectText("05:00", ask(app, "clock"));
    try expectNumber(1, ask(app, "completed"));
    try expectText("1 focus phase done", ask(app, "summary"));
    try expectSounds(app, 1);
    try ticks(&app, 1);
    try expectPhase(app, "rest", rest_seconds - 1, true);
    try expectSounds(app, 0);
}

test "at the end of a rest focus begins, it is not counted, and the sound is played" {
    var app = try start();
    defer app.deinit();
    try app.send("start", .{});
    try ticks(&app, focus_seconds);
    try expectSounds(app, 1);
    try ticks(&app, rest_seconds);
    try expectPhase(app, "focus", focus_seconds, true);
    try expectNumber(1, ask(app, "completed"));
    try expectSounds(app, 1);
}

test "rounds follow one another" {
    var app = try start();
    defer app.deinit();
    try app.send("start", .{});
    for (0..3) |_| {
        try ticks(&app, focus_seconds);
        try expectSounds(app, 1);
        try ticks(&app, rest_seconds);
        try expectSounds(app, 1);
    }
    try expectPhase(app, "focus", focus_seconds, true);
    try expectNumber(3, ask(app, "completed"));
    try expectText("3 focus phases done", ask(app, "summary"));
}

test "a rest can be paused, and goes on as a rest" {
    var app = try start();
    defer app.deinit();
    try app.send("start", .{});
    try ticks(&app, focus_seconds + 100);
    try app.send("pause", .{});
    try expectPhase(app, "rest", rest_seconds - 100, false);
    try lateTick(&app);
    try app.send("start", .{});
    try expectPhase(app, "rest", rest_seconds - 100, true);
    try ticks(&app, rest_seconds - 100);
    try expectPhase(app, "focus", focus_seconds, true);
}

test "skip begins the other phase, uncounted and silent" {
    var app = try start();
    defer app.deinit();
    try app.send("skip", .{});
    try expectPhase(app, "rest", rest_seconds, false);
    try app.send("skip", .{});
    try expectPhase(app, "focus", focus_seconds, false);
    try app.send("start", .{});
    try ticks(&app, 70);
    try app.send("skip", .{});
    try expectPhase(app, "rest", rest_seconds, true);
    try ticks(&app, 3);
    try app.send("skip", .{});
    try expectPhase(app, "focus", focus_seconds, true);
    try expectNumber(0, ask(app, "completed"));
    try expectSounds(app, 0);
}

test "reset goes back to a focus phase that does not run, and the count stays" {
    var app = try start();
    defer app.deinit();
    try app.send("start", .{});
    try ticks(&app, focus_seconds + 7);
    try expectSounds(app, 1);
    try app.send("reset", .{});
    try expectPhase(app, "focus", focus_seconds, false);
    try expectNumber(1, ask(app, "completed"));
    try expectSounds(app, 0);
    try app.send("start", .{});
    try ticks(&app, 5);
    try app.send("pause", .{});
    try app.send("reset", .{});
    try app.send("reset", .{});
    try expectPhase(app, "focus", focus_seconds, false);
    try expectText("1 focus phase done", ask(app, "summary"));
}

test "the sound is the chime, and the timer goes on when it fails" {
    var app = try start();
    defer app.deinit();
    try app.send("start", .{});
    try ticks(&app, focus_seconds);
    try expectText("assets/chime.wav", app.audio.?.path);
    try app.audioEvent("failed");
    try expectPhase(app, "rest", rest_seconds, true);
    try ticks(&app, rest_seconds);
    try app.audioEvent("completed");
    try expectPhase(app, "focus", focus_seconds, true);
    try expectNumber(1, ask(app, "completed"));
}
