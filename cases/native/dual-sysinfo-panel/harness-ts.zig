//! What the prompt of dual-sysinfo-panel promises, on the emitted core. harness-zig.zig asserts the same, test for test.

const std = @import("std");
const core = @import("core.zig");
const drive = @import("drive.zig");

const expectEqual = std.testing.expectEqual;
const expectText = drive.expectText;

const App = drive.App(core);
const line = "Linux atlas 6.8.0-45-generic x86_64\n";

fn start() !App {
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

fn expectState(app: App, state: []const u8, status: []const u8) !void {
    try drive.expectMember(state, ask(app, "state"));
    try expectText(status, ask(app, "status"));
}

fn expectValues(app: App, system: []const u8, host: []const u8, release: []const u8, machine: []const u8) !void {
    try expectText(system, ask(app, "system"));
    try expectText(host, ask(app, "host"));
    try expectText(release, ask(app, "release"));
    try expectText(machine, ask(app, "machine"));
}

/// A whole reading: asked for, and ended with what it printed.
fn reading(app: *App, code: i32, output: []const u8) !void {
    try app.send("probe", .{});
    _ = try app.only(.spawn);
    try app.spawnExit(0, code, output);
}

/// One that ends in another way: by the word for it.
fn broken(app: *App, reason: []const u8) !void {
    try app.send("probe", .{});
    _ = try app.only(.spawn);
    try app.spawnFailed(0, reason);
}

test "it starts idle and runs nothing" {
    var app = try start();
    defer app.deinit();
    try expectEqual(0, app.started(.spawn));
    try expectState(app, "idle", "Not read yet");
    try expectValues(app, "", "", "", "");
}

test "a reading runs the command once and collects what it prints" {
    var app = try start();
    defer app.deinit();
    try app.send("probe", .{});
    const spawn = try app.only(.spawn);
    try expectEqual(2, spawn.argv.len);
    try expectText("uname", spawn.argv.at(0));
    try expectText("-snrm", spawn.argv.at(1));
    try expectEqual(true, spawn.collect);
    try expectState(app, "probing", "Reading");
}

test "while a command runs there is no second one" {
    var app = try start();
    defer app.deinit();
    try app.send("probe", .{});
    try app.send("probe", .{});
    try app.send("probe", .{});
    try expectEqual(1, app.started(.spawn));
    try expectState(app, "probing", "Reading");
    try app.spawnExit(0, 0, line);
    try expectState(app, "ok", "Up to date");
}

test "the line is taken apart into its four words" {
    var app = try start();
    defer app.deinit();
    try reading(&app, 0, line);
    try expectState(app, "ok", "Up to date");
    try expectValues(app, "Linux", "atlas", "6.8.0-45-generic", "x86_64");
}

test "blanks around and between the words mean nothing" {
    var app = try start();
    defer app.deinit();
    try reading(&app, 0, "\n \tDarwin   studio.local\t\t23.4.0 \t arm64  \r\n\n");
    try expectState(app, "ok", "Up to date");
    try expectValues(app, "Darwin", "studio.local", "23.4.0", "arm64");
}

test "a word of 64 bytes is kept whole" {
    var app = try start();
    defer app.deinit();
    const host: [64]u8 = @splat('h');
    try reading(&app, 0, "Linux " ++ host ++ " 6.8.0 x86_64");
    try expectState(app, "ok", "Up to date");
    try expectValues(app, "Linux", &host, "6.8.0", "x86_64");
}

test "a code other than 0 is told" {
    var app = try start();
    defer app.deinit();
    try reading(&app, 3, "");
    try expectState(app, "failed", "uname failed with code 3");
    try reading(&app, 127, line);
    try expectState(app, "failed", "uname failed with code 127");
    try expectValues(app, "", "", "", "");
}

test "a command that never ran did not fail" {
    var app = try start();
    defer app.deinit();
    try broken(&app, "spawn_failed");
    try expectState(app, "never_started", "uname could not be started");
    try reading(&app, 0, line);
    try broken(&app, "rejected");
    try expectState(app, "never_started", "uname could not be started");
}

test "a command that was ended from outside was stopped" {
    var app = try start();
    defer app.deinit();
    try broken(&app, "signaled");
    try expectState(app, "killed", "uname was stopped before it was done");
    try reading(&app, 0, line);
    try broken(&app, "cancelled");
    try expectState(app, "killed", "uname was stopped before it was done");
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
        try expectState(app, "unreadable", "uname said something unexpected");
        try expectValues(app, "", "", "", "");
    }
}

test "output that came cut off is no reading" {
    var app = try start();
    defer app.deinit();
    try broken(&app, "truncated");
    try expectState(app, "unreadable", "uname said something unexpected");
    try expectValues(app, "", "", "", "");
}

test "a good reading stays until the next good one" {
    var app = try start();
    defer app.deinit();
    try reading(&app, 0, line);
    try app.send("probe", .{});
    try expectState(app, "probing", "Reading");
    try expectValues(app, "Linux", "atlas", "6.8.0-45-generic", "x86_64");
    try app.spawnExit(0, 1, "FreeBSD other 14.1-RELEASE amd64\n");
    try expectValues(app, "Linux", "atlas", "6.8.0-45-generic", "x86_64");
    try reading(&app, 0, "FreeBSD other 14.1-RELEASE\n");
    try broken(&app, "signaled");
    try broken(&app, "spawn_failed");
    try expectValues(app, "Linux", "atlas", "6.8.0-45-generic", "x86_64");
    try reading(&app, 0, "FreeBSD vm 14.1-RELEASE amd64\n");
    try expectState(app, "ok", "Up to date");
    try expectValues(app, "FreeBSD", "vm", "14.1-RELEASE", "amd64");
}

test "after each kind of end it can be asked again" {
    var app = try start();
    defer app.deinit();
    try reading(&app, 0, line);
    try reading(&app, 0, "no reading");
    try reading(&app, 2, "");
    try broken(&app, "spawn_failed");
    try broken(&app, "signaled");
    try reading(&app, 0, line);
    try expectEqual(6, app.started(.spawn));
    try expectState(app, "ok", "Up to date");
}
