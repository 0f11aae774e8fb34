//! What the prompt of dual-sysinfo-panel promises, on the agent's own main.zig. harness-ts.zig asserts the same, test for
//! test.

const std = @import("std");
const native_sdk = @import("native_sdk");
const main = @import("main.zig");
const drive = @import("eval_drive.zig");

const expectEqual = std.testing.expectEqual;
const expectText = drive.expectText;

const App = drive.App(main);
const line = "Linux atlas 6.8.0-45-generic x86_64\n";

fn start() !App {
    return App.init(std.testing.allocator);
}

fn expectState(app: *const App, state: []const u8, status: []const u8) !void {
    try drive.expectMember(state, app.ask("state"));
    try expectText(status, app.ask("status"));
}

fn expectValues(app: *const App, system: []const u8, host: []const u8, release: []const u8, machine: []const u8) !void {
    try expectText(system, app.ask("system"));
    try expectText(host, app.ask("host"));
    try expectText(release, app.ask("release"));
    try expectText(machine, app.ask("machine"));
}

/// The key of the one command that runs.
fn running(app: *App) !u64 {
    try expectEqual(1, app.fx.pendingSpawnCount());
    return app.fx.pendingSpawnAt(0).?.key;
}

fn end(app: *App, code: i32, reason: native_sdk.EffectExitReason, output: []const u8) !void {
    const key = try running(app);
    try app.fx.feedOutput(key, output);
    try app.fx.feedExitReason(key, code, reason);
    try app.settle();
}

/// A whole reading: asked for, and ended with what it printed.
fn reading(app: *App, code: i32, output: []const u8) !void {
    try app.send(.probe);
    try end(app, code, .exited, output);
}

/// One that ends in another way.
fn broken(app: *App, reason: native_sdk.EffectExitReason) !void {
    try app.send(.probe);
    try end(app, -1, reason, "");
}

test "it starts idle and runs nothing" {
    var app = try start();
    defer app.deinit();
    try app.settle();
    try expectEqual(0, app.fx.pendingSpawnCount());
    try expectState(&app, "idle", "Not read yet");
    try expectValues(&app, "", "", "", "");
}

test "a reading runs the command once and collects what it prints" {
    var app = try start();
    defer app.deinit();
    try app.send(.probe);
    _ = try running(&app);
    const spawn = app.fx.pendingSpawnAt(0).?;
    try expectEqual(2, spawn.argv.len);
    try expectText("uname", spawn.argv[0]);
    try expectText("-snrm", spawn.argv[1]);
    try expectEqual(.collect, spawn.output);
    try expectState(&app, "probing", "Reading");
}

test "while a command runs there is no second one" {
    var app = try start();
    defer app.deinit();
    try app.send(.probe);
    try app.send(.probe);
    try app.send(.probe);
    _ = try running(&app);
    try expectState(&app, "probing", "Reading");
    try end(&app, 0, .exited, line);
    try expectEqual(0, app.fx.pendingSpawnCount());
    try expectState(&app, "ok", "Up to date");
}

test "the line is taken apart into its four words" {
    var app = try start();
    defer app.deinit();
    try reading(&app, 0, line);
    try expectState(&app, "ok", "Up to date");
    try expectValues(&app, "Linux", "atlas", "6.8.0-45-generic", "x86_64");
}

test "blanks around and between the words mean nothing" {
    var app = try start();
    defer app.deinit();
    try reading(&app, 0, "\n \tDarwin   studio.local\t\t23.4.0 \t arm64  \r\n\n");
    try expectState(&app, "ok", "Up to date");
    try expectValues(&app, "Darwin", "studio.local", "23.4.0", "arm64");
}

test "a word of 64 bytes is kept whole" {
    var app = try start();
    defer app.deinit();
    const host: [64]u8 = @splat('h');
    try reading(&app, 0, "Linux " ++ host ++ " 6.8.0 x86_64");
    try expectState(&app, "ok", "Up to date");
    try expectValues(&app, "Linux", &host, "6.8.0", "x86_64");
}

test "a code other than 0 is told" {
    var app = try start();
    defer app.deinit();
    try reading(&app, 3, "");
    try expectState(&app, "failed", "uname failed with code 3");
    try reading(&app, 127, line);
    try expectState(&app, "failed", "uname failed with code 127");
    try expectValues(&app, "", "", "", "");
}

test "a command that never ran did not fail" {
    var app = try start();
    defer app.deinit();
    try broken(&app, .spawn_failed);
    try expectState(&app, "never_started", "uname could not be started");
    try reading(&app, 0, line);
    try broken(&app, .rejected);
    try expectState(&app, "never_started", "uname could not be started");
}

test "a command that was ended from outside was stopped" {
    var app = try start();
    defer app.deinit();
    try broken(&app, .signaled);
    try expectState(&app, "killed", "uname was stopped before it was done");
    try reading(&app, 0, line);
    try broken(&app, .cancelled);
    try expectState(&app, "killed", "uname was stopped before it was done");
}

test "what is not one line of four words is no reading" {
    const outputs = [_][]const u8{
        "",
        " \n\t\n",
        "Linux atlas 6.8.0-45-generic\n",
        "Linux atlas 6.8.0-45-generic x86_64 GNU/Linux\n",
        "Linux atlas\n6.8.0-45-generic x86_64\n",
        "Linux atlas 6.8.0-45-generic x86_64\nLinux atlas 6.8.0-45-generic x86_64\n",
    };
    for (outputs) |output| {
        var app = try start();
        defer app.deinit();
        try reading(&app, 0, output);
        try expectState(&app, "unreadable", "uname said something unexpected");
        try expectValues(&app, "", "", "", "");
    }
}

test "output that came cut off is no reading" {
    var app = try start();
    defer app.deinit();
    try app.send(.probe);
    // A good line, and blanks until the channel takes no more.
    const blanks: [64 * 1024]u8 = @splat(' ');
    const key = try running(&app);
    try app.fx.feedOutput(key, line);
    for (0..9) |_| try app.fx.feedOutput(key, &blanks);
    try app.fx.feedExit(key, 0);
    try app.settle();
    try expectState(&app, "unreadable", "uname said something unexpected");
    try expectValues(&app, "", "", "", "");
}

test "a good reading stays until the next good one" {
    var app = try start();
    defer app.deinit();
    try reading(&app, 0, line);
    try app.send(.probe);
    try expectState(&app, "probing", "Reading");
    try expectValues(&app, "Linux", "atlas", "6.8.0-45-generic", "x86_64");
    try end(&app, 1, .exited, "FreeBSD other 14.1-RELEASE amd64\n");
    try expectValues(&app, "Linux", "atlas", "6.8.0-45-generic", "x86_64");
    try reading(&app, 0, "FreeBSD other 14.1-RELEASE\n");
    try broken(&app, .signaled);
    try broken(&app, .spawn_failed);
    try expectValues(&app, "Linux", "atlas", "6.8.0-45-generic", "x86_64");
    try reading(&app, 0, "FreeBSD vm 14.1-RELEASE amd64\n");
    try expectState(&app, "ok", "Up to date");
    try expectValues(&app, "FreeBSD", "vm", "14.1-RELEASE", "amd64");
}

test "after each kind of end it can be asked again" {
    var app = try start();
    defer app.deinit();
    try reading(&app, 0, line);
    try reading(&app, 0, "no reading");
    try reading(&app, 2, "");
    try broken(&app, .spawn_failed);
    try broken(&app, .signaled);
    try reading(&app, 0, line);
    try expectEqual(0, app.fx.pendingSpawnCount());
    try expectState(&app, "ok", "Up to date");
}
