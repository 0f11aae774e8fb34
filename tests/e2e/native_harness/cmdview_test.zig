//! The decoder against the encoders of the SDK's own kernel: every command, with values that tell its fields apart.

const std = @import("std");
const rt = @import("rt.zig").default;
const cmdview = @import("cmdview.zig");

const expectEqual = std.testing.expectEqual;
const expectText = std.testing.expectEqualStrings;

fn one(comptime op: cmdview.Op, cmd: []const u8) !@FieldType(cmdview.Cmd, @tagName(op)) {
    var commands = cmdview.read(cmd);
    const found = (try commands.next()).?;
    try expectEqual(op, std.meta.activeTag(found));
    try expectEqual(null, try commands.next());
    return @field(found, @tagName(op));
}

test "the format is the one that the kernel speaks, and every command of it is known" {
    try expectEqual(rt.cmd_format_version, cmdview.version);
    const theirs = @typeInfo(rt.CmdOp).@"enum".fields;
    try expectEqual(theirs.len, @typeInfo(cmdview.Op).@"enum".fields.len);
    inline for (theirs) |field| try expectEqual(field.value, @intFromEnum(@field(cmdview.Op, field.name)));
}

test "commands without an answer" {
    rt.resetAll();
    _ = try one(.persist, rt.cmdPersist());
    _ = try one(.quit_app, rt.cmdQuitApp());
    const host = try one(.host, rt.cmdHost("beep", &.{ 0.5, -2 }));
    try expectText("beep", host.name);
    try expectEqual(2, host.args.len);
    try expectEqual(-2, host.args.at(1));
    const bytes = try one(.host_bytes, rt.cmdHostBytes("cfg", "\x00\xff"));
    try expectText("\x00\xff", bytes.payload);
    try expectText("text", (try one(.clip_write, rt.cmdClipWrite("text"))).bytes);
    try expectText("main", (try one(.window_show, rt.cmdWindowShow("main"))).label);
    try expectText("k", (try one(.cancel, rt.cmdCancel("k"))).key);
    try expectEqual(7, (try one(.now, rt.cmdNow(7))).tag);
}

test "files, requests and the clipboard" {
    rt.resetAll();
    const request = try one(.request, rt.cmdRequest("store", "key", 1, 2, "payload"));
    try expectText("store", request.name);
    try expectText("key", request.key);
    try expectEqual(1, request.ok);
    try expectEqual(2, request.err);
    try expectText("payload", request.payload);
    const reading = try one(.read_file, rt.cmdReadFile("r", 3, 4, "in.txt"));
    try expectText("in.txt", reading.path);
    try expectEqual(4, reading.err);
    const writing = try one(.write_file, rt.cmdWriteFile("w", 5, 6, "out.txt", "a,b\n"));
    try expectText("out.txt", writing.path);
    try expectText("a,b\n", writing.bytes);
    try expectEqual(5, writing.ok);
    try expectText("c", (try one(.clip_read, rt.cmdClipRead("c", 1, 2))).key);
}

test "a fetch with its headers" {
    rt.resetAll();
    const headers = [_]rt.CmdFetchHeader{ .{ .name = "accept", .value = "text/plain" }, .{ .name = "x-key", .value = "" } };
    const fetch = try one(.fetch, rt.cmdFetch("f", 8, 9, .PATCH, 1500, "https://a.test/", &headers, "body"));
    try expectEqual(.PATCH, fetch.method);
    try expectEqual(1500, fetch.timeout_ms);
    try expectText("https://a.test/", fetch.url);
    try expectEqual(2, fetch.headers.len);
    try expectText("text/plain", fetch.headers.get("Accept").?);
    try expectText("", fetch.headers.get("x-key").?);
    try expectEqual(null, fetch.headers.get("cookie"));
    try expectText("body", fetch.body);
    try expectEqual(9, fetch.err);
}

test "delays, programs and their arguments" {
    rt.resetAll();
    const delay = try one(.delay, rt.cmdDelay("auto", 812.5, 3));
    try expectText("auto", delay.key);
    try expectEqual(812.5, delay.after_ms);
    try expectEqual(3, delay.tag);
    const spawn = try one(.spawn, rt.cmdSpawn("s", 1, 2, 3, .lines, &.{ "sh", "-c", "echo a" }, "in"));
    try expectEqual(1, spawn.line);
    try expectEqual(2, spawn.exit);
    try expectEqual(3, spawn.err);
    try expectEqual(false, spawn.collect);
    try expectEqual(3, spawn.argv.len);
    try expectText("-c", spawn.argv.at(1));
    try expectText("echo a", spawn.argv.at(2));
    try expectText("in", spawn.stdin);
    const collected = try one(.spawn, rt.cmdSpawn("s", rt.spawn_no_line_tag, 2, 3, .collect, &.{"uname"}, ""));
    try expectEqual(null, collected.line);
    try expectEqual(true, collected.collect);
}

test "sound, pictures and films" {
    rt.resetAll();
    const play = try one(.audio_play, rt.cmdAudioPlay("bell", 4, "bell.wav", "https://a.test/b", "cache", 12));
    try expectText("bell.wav", play.path);
    try expectText("https://a.test/b", play.url);
    try expectText("cache", play.cache_path);
    try expectEqual(12, play.expected_bytes);
    const ctl = try one(.audio_ctl, rt.cmdAudioCtl("bell", .volume, 0.25));
    try expectEqual(.volume, ctl.verb);
    try expectEqual(0.25, ctl.value);
    const image = try one(.image_load, rt.cmdImageLoad(3, 5, "a.png", "", "", 0));
    try expectEqual(3, image.id);
    try expectEqual(5, image.event);
    try expectEqual(3, (try one(.image_cancel, rt.cmdImageCancel(3))).id);
    try expectEqual(3, (try one(.image_unregister, rt.cmdImageUnregister(3))).id);
    const film = try one(.video_load, rt.cmdVideoLoad("v", 6, 2, "a.mp4", "u", 0b101));
    try expectEqual(2, film.surface);
    try expectEqual(.{ true, false, true }, .{ film.autoplay, film.loop, film.muted });
    try expectEqual(.seek, (try one(.video_ctl, rt.cmdVideoCtl("v", .seek, 9))).verb);
}

test "channels and terminals" {
    rt.resetAll();
    try expectEqual(7, (try one(.channel_open, rt.cmdChannelOpen(7, 1))).id);
    try expectEqual(7, (try one(.channel_close, rt.cmdChannelClose(7))).id);
    const pty = try one(.pty_spawn, rt.cmdPtySpawn("p", 2, 80, 24, "xterm", &.{ "sh", "-i" }));
    try expectEqual(80, pty.cols);
    try expectText("xterm", pty.term);
    try expectText("-i", pty.argv.at(1));
    try expectText("ls\n", (try one(.pty_write, rt.cmdPtyWrite("p", "ls\n"))).bytes);
    try expectEqual(30, (try one(.pty_resize, rt.cmdPtyResize("p", 100, 30))).rows);
    try expectText("p", (try one(.pty_kill, rt.cmdPtyKill("p"))).key);
}

test "a batch is its commands in their order" {
    rt.resetAll();
    const batch = rt.cmdBatch(&.{ rt.cmdDelay("a", 1, 0), rt.cmdCancel("b"), rt.cmd_none, rt.cmdDelay("c", 2, 0) });
    try expectEqual(2, try cmdview.count(batch, .delay));
    try expectText("b", (try cmdview.only(batch, .cancel)).key);
    try expectText("a", (try cmdview.first(batch, .delay)).?.key);
    try expectEqual(null, try cmdview.first(batch, .fetch));
    try expectEqual(0, try cmdview.count(rt.cmd_none, .delay));
}

test "subscriptions are timers in their order" {
    rt.resetAll();
    const subs = rt.subBatch(&.{ rt.subTimer("tick", 1000, 1), rt.subTimer("slow", 2.5, 0) });
    try expectEqual(1000, (try cmdview.timer(subs, 0)).?.every_ms);
    const slow = (try cmdview.timer(subs, 1)).?;
    try expectText("slow", slow.key);
    try expectText("go", cmdview.arm(union(enum) { go, stop }, slow.tag));
    try expectEqual(null, try cmdview.timer(subs, 2));
    try expectEqual(null, try cmdview.timer(rt.sub_none, 0));
}

test "bytes of another format are errors" {
    var unknown = cmdview.read("\x7f");
    try std.testing.expectError(error.UnknownCommand, unknown.next());
    var cut = cmdview.read("\x06\x05ab");
    try std.testing.expectError(error.Cut, cut.next());
    var long = cmdview.read("\x0a\xff\xff\xff\xff");
    try std.testing.expectError(error.Cut, long.next());
    var verb = cmdview.read("\x0f\x01k\x09\x00\x00\x00\x00\x00\x00\x00\x00");
    try std.testing.expectError(error.UnknownValue, verb.next());
    try std.testing.expectError(error.UnknownCommand, cmdview.timer("\x02", 0));
}
