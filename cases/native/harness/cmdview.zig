//! What a TypeScript core asks of its host: the bytes of a `Cmd` or a `Sub` as values that a test can look at.
//!
//! A transpiled core returns effects as bytes (wire format 3; the layout is told in the SDK's `packages/core/rt/rt.zig`,
//! what a host makes of it in `src/runtime/ts_core_host.zig`). A batch is its commands one after the other, no command is no
//! byte. Numbers are little-endian; a short text has its length in one byte before it, a long one in four.
//!
//! A harness rarely reads commands itself: `drive.zig`, beside this file, keeps what is in flight and answers it. What is
//! here is for assertions about a single dispatch:
//!
//!     const fetch = try cmdview.only(cmd, .fetch);           // exactly one fetch among the commands
//!     try std.testing.expectEqualStrings("https://…", fetch.url);
//!     try std.testing.expectEqual(2, try cmdview.count(cmd, .delay));
//!     const timer = (try cmdview.timer(subs, 0)).?;          // of what `subscriptions` declares
//!     try std.testing.expectEqualStrings("tick", cmdview.arm(core.Msg, timer.tag));
//!
//! All texts are slices of the bytes that were given: of a core's frame they are gone after `frameReset`.
//! An error means that core and decoder do not speak the same format; no answer of an agent can cause it.

const std = @import("std");

/// The wire format that is read here: `rt.cmd_format_version`.
pub const version = 3;

/// Cut: the bytes end within a command. UnknownCommand, UnknownValue: the core speaks another format.
pub const Error = error{ Cut, UnknownCommand, UnknownValue };

pub const Op = enum(u8) {
    persist = 0x01,
    now = 0x02,
    host = 0x03,
    host_bytes = 0x04,
    request = 0x05,
    cancel = 0x06,
    read_file = 0x07,
    write_file = 0x08,
    fetch = 0x09,
    clip_write = 0x0A,
    clip_read = 0x0B,
    delay = 0x0C,
    spawn = 0x0D,
    audio_play = 0x0E,
    audio_ctl = 0x0F,
    window_show = 0x10,
    quit_app = 0x11,
    image_load = 0x12,
    image_cancel = 0x13,
    image_unregister = 0x14,
    channel_open = 0x15,
    channel_close = 0x16,
    video_load = 0x17,
    video_ctl = 0x18,
    pty_spawn = 0x19,
    pty_write = 0x1A,
    pty_resize = 0x1B,
    pty_kill = 0x1C,
};

pub const Method = enum(u8) { GET, POST, PUT, DELETE, PATCH, HEAD };
pub const AudioVerb = enum(u8) { pause, @"resume", stop, seek, volume };
pub const VideoVerb = enum(u8) { play, pause, stop, seek, volume, muted, loop };

/// Texts one after the other: the arguments of a program.
pub const Texts = struct {
    len: usize,
    bytes: []const u8,

    pub fn at(texts: Texts, index: usize) []const u8 {
        var reader: Reader = .{ .bytes = texts.bytes };
        for (0..index) |_| _ = reader.long() catch unreachable; // they were read once already
        return reader.long() catch unreachable;
    }
};

/// A fetch's headers.
pub const Headers = struct {
    len: usize,
    bytes: []const u8,

    pub fn get(headers: Headers, name: []const u8) ?[]const u8 {
        var reader: Reader = .{ .bytes = headers.bytes };
        for (0..headers.len) |_| {
            const found = reader.short() catch unreachable;
            const value = reader.long() catch unreachable;
            if (std.ascii.eqlIgnoreCase(found, name)) return value;
        }
        return null;
    }
};

/// Numbers one after the other: the arguments of `Cmd.host`.
pub const Numbers = struct {
    len: usize,
    bytes: []const u8,

    pub fn at(numbers: Numbers, index: usize) f64 {
        return @bitCast(std.mem.readInt(u64, numbers.bytes[index * 8 ..][0..8], .little));
    }
};

// `ok`, `err`, `tag` and their like are arms of Msg by their place in its declaration: see `arm`.
pub const Now = struct { tag: u8 };
pub const Host = struct { name: []const u8, args: Numbers };
pub const HostBytes = struct { name: []const u8, payload: []const u8 };
pub const Request = struct { name: []const u8, key: []const u8, ok: u8, err: u8, payload: []const u8 };
pub const Key = struct { key: []const u8 };
pub const ReadFile = struct { key: []const u8, ok: u8, err: u8, path: []const u8 };
pub const WriteFile = struct { key: []const u8, ok: u8, err: u8, path: []const u8, bytes: []const u8 };
pub const Fetch = struct {
    key: []const u8,
    ok: u8,
    err: u8,
    method: Method,
    /// 0: the engine's default.
    timeout_ms: u32,
    url: []const u8,
    headers: Headers,
    body: []const u8,
};
pub const Bytes = struct { bytes: []const u8 };
pub const ClipRead = struct { key: []const u8, ok: u8, err: u8 };
pub const Delay = struct { key: []const u8, after_ms: f64, tag: u8 };
pub const Spawn = struct {
    key: []const u8,
    /// Null: its lines go nowhere.
    line: ?u8,
    exit: u8,
    err: u8,
    /// Whether its whole output comes with its end, rather than line by line.
    collect: bool,
    argv: Texts,
    stdin: []const u8,
};
pub const AudioPlay = struct { key: []const u8, event: u8, path: []const u8, url: []const u8, cache_path: []const u8, expected_bytes: f64 };
pub const AudioCtl = struct { key: []const u8, verb: AudioVerb, value: f64 };
pub const Label = struct { label: []const u8 };
pub const ImageLoad = struct { id: f64, event: u8, path: []const u8, url: []const u8, cache_path: []const u8, expected_bytes: f64 };
pub const Number = struct { id: f64 };
pub const ChannelOpen = struct { id: f64, event: u8 };
pub const VideoLoad = struct { key: []const u8, event: u8, surface: f64, path: []const u8, url: []const u8, autoplay: bool, loop: bool, muted: bool };
pub const VideoCtl = struct { key: []const u8, verb: VideoVerb, value: f64 };
pub const PtySpawn = struct { key: []const u8, event: u8, cols: f64, rows: f64, term: []const u8, argv: Texts };
pub const PtyWrite = struct { key: []const u8, bytes: []const u8 };
pub const PtyResize = struct { key: []const u8, cols: f64, rows: f64 };

pub const Cmd = union(Op) {
    persist,
    now: Now,
    host: Host,
    host_bytes: HostBytes,
    request: Request,
    cancel: Key,
    read_file: ReadFile,
    write_file: WriteFile,
    fetch: Fetch,
    clip_write: Bytes,
    clip_read: ClipRead,
    delay: Delay,
    spawn: Spawn,
    audio_play: AudioPlay,
    audio_ctl: AudioCtl,
    window_show: Label,
    quit_app,
    image_load: ImageLoad,
    image_cancel: Number,
    image_unregister: Number,
    channel_open: ChannelOpen,
    channel_close: Number,
    video_load: VideoLoad,
    video_ctl: VideoCtl,
    pty_spawn: PtySpawn,
    pty_write: PtyWrite,
    pty_resize: PtyResize,
    pty_kill: Key,

    /// The name by which it can be cancelled, replaced or driven; null where the command has none.
    pub fn key(cmd: Cmd) ?[]const u8 {
        switch (cmd) {
            inline else => |payload| {
                const Payload = @TypeOf(payload);
                if (Payload != void and @hasField(Payload, "key")) return payload.key;
                return null;
            },
        }
    }
};

/// A recurring timer that `subscriptions` declares: `tag`'s arm comes every `every_ms` milliseconds.
pub const Timer = struct { key: []const u8, every_ms: f64, tag: u8 };

/// The commands of a value, in their order. Get one with `read`.
pub const Commands = struct {
    reader: Reader,

    pub fn next(commands: *Commands) Error!?Cmd {
        const r = &commands.reader;
        if (r.at == r.bytes.len) return null;
        const op = std.enums.fromInt(Op, try r.byte()) orelse return error.UnknownCommand;
        return switch (op) {
            .persist => .persist,
            .now => .{ .now = .{ .tag = try r.byte() } },
            .host => .{ .host = .{ .name = try r.short(), .args = try r.numbers() } },
            .host_bytes => .{ .host_bytes = .{ .name = try r.short(), .payload = try r.long() } },
            .request => .{ .request = .{
                .name = try r.short(),
                .key = try r.short(),
                .ok = try r.byte(),
                .err = try r.byte(),
                .payload = try r.long(),
            } },
            .cancel => .{ .cancel = .{ .key = try r.short() } },
            .read_file => .{ .read_file = .{
                .key = try r.short(),
                .ok = try r.byte(),
                .err = try r.byte(),
                .path = try r.long(),
            } },
            .write_file => .{ .write_file = .{
                .key = try r.short(),
                .ok = try r.byte(),
                .err = try r.byte(),
                .path = try r.long(),
                .bytes = try r.long(),
            } },
            .fetch => .{ .fetch = .{
                .key = try r.short(),
                .ok = try r.byte(),
                .err = try r.byte(),
                .method = try r.value(Method),
                .timeout_ms = try r.word(),
                .url = try r.long(),
                .headers = try r.headers(),
                .body = try r.long(),
            } },
            .clip_write => .{ .clip_write = .{ .bytes = try r.long() } },
            .clip_read => .{ .clip_read = .{ .key = try r.short(), .ok = try r.byte(), .err = try r.byte() } },
            .delay => .{ .delay = .{ .key = try r.short(), .after_ms = try r.number(), .tag = try r.byte() } },
            .spawn => .{ .spawn = .{
                .key = try r.short(),
                .line = switch (try r.byte()) {
                    0xFF => null,
                    else => |tag| tag,
                },
                .exit = try r.byte(),
                .err = try r.byte(),
                .collect = try r.flag(),
                .argv = try r.texts(),
                .stdin = try r.long(),
            } },
            .audio_play => .{ .audio_play = .{
                .key = try r.short(),
                .event = try r.byte(),
                .path = try r.long(),
                .url = try r.long(),
                .cache_path = try r.long(),
                .expected_bytes = try r.number(),
            } },
            .audio_ctl => .{ .audio_ctl = .{
                .key = try r.short(),
                .verb = try r.value(AudioVerb),
                .value = try r.number(),
            } },
            .window_show => .{ .window_show = .{ .label = try r.short() } },
            .quit_app => .quit_app,
            .image_load => .{ .image_load = .{
                .id = try r.number(),
                .event = try r.byte(),
                .path = try r.long(),
                .url = try r.long(),
                .cache_path = try r.long(),
                .expected_bytes = try r.number(),
            } },
            .image_cancel => .{ .image_cancel = .{ .id = try r.number() } },
            .image_unregister => .{ .image_unregister = .{ .id = try r.number() } },
            .channel_open => .{ .channel_open = .{ .id = try r.number(), .event = try r.byte() } },
            .channel_close => .{ .channel_close = .{ .id = try r.number() } },
            .video_load => video: {
                const key = try r.short();
                const event = try r.byte();
                const surface = try r.number();
                const path = try r.long();
                const url = try r.long();
                const flags = try r.byte();
                break :video .{ .video_load = .{
                    .key = key,
                    .event = event,
                    .surface = surface,
                    .path = path,
                    .url = url,
                    .autoplay = flags & 1 != 0,
                    .loop = flags & 2 != 0,
                    .muted = flags & 4 != 0,
                } };
            },
            .video_ctl => .{ .video_ctl = .{
                .key = try r.short(),
                .verb = try r.value(VideoVerb),
                .value = try r.number(),
            } },
            .pty_spawn => .{ .pty_spawn = .{
                .key = try r.short(),
                .event = try r.byte(),
                .cols = try r.number(),
                .rows = try r.number(),
                .term = try r.short(),
                .argv = try r.texts(),
            } },
            .pty_write => .{ .pty_write = .{ .key = try r.short(), .bytes = try r.long() } },
            .pty_resize => .{ .pty_resize = .{ .key = try r.short(), .cols = try r.number(), .rows = try r.number() } },
            .pty_kill => .{ .pty_kill = .{ .key = try r.short() } },
        };
    }
};

pub fn read(cmd: []const u8) Commands {
    return .{ .reader = .{ .bytes = cmd } };
}

/// How many commands of a kind there are.
pub fn count(cmd: []const u8, op: Op) Error!usize {
    var found: usize = 0;
    var commands = read(cmd);
    while (try commands.next()) |one| found += @intFromBool(one == op);
    return found;
}

/// The first command of a kind.
pub fn first(cmd: []const u8, comptime op: Op) Error!?@FieldType(Cmd, @tagName(op)) {
    var commands = read(cmd);
    while (try commands.next()) |one| {
        if (one == op) return @field(one, @tagName(op));
    }
    return null;
}

/// The one command of a kind. Says what there is instead, and fails the test, where there is none or more than one.
pub fn only(cmd: []const u8, comptime op: Op) !@FieldType(Cmd, @tagName(op)) {
    const found = try count(cmd, op);
    if (found != 1) {
        std.debug.print("expected one {t} command, found {d} among:", .{ op, found });
        var commands = read(cmd);
        while (try commands.next()) |one| std.debug.print(" {t}", .{std.meta.activeTag(one)});
        std.debug.print("\n", .{});
        return error.TestExpectedOneCommand;
    }
    return (try first(cmd, op)).?;
}

/// The timer at a place in what `subscriptions` declares; null behind the last.
pub fn timer(subs: []const u8, index: usize) Error!?Timer {
    var r: Reader = .{ .bytes = subs };
    var at: usize = 0;
    while (r.at < subs.len) : (at += 1) {
        if (try r.byte() != 0x01) return error.UnknownCommand;
        const found: Timer = .{ .key = try r.short(), .every_ms = try r.number(), .tag = try r.byte() };
        if (at == index) return found;
    }
    return null;
}

/// The name of a Msg arm by its place.
pub fn arm(comptime Msg: type, tag: u8) []const u8 {
    return std.meta.fieldNames(Msg)[tag];
}

const Reader = struct {
    bytes: []const u8,
    at: usize = 0,

    fn take(r: *Reader, len: usize) Error![]const u8 {
        if (r.bytes.len - r.at < len) return error.Cut;
        defer r.at += len;
        return r.bytes[r.at..][0..len];
    }

    fn byte(r: *Reader) Error!u8 {
        return (try r.take(1))[0];
    }

    fn word(r: *Reader) Error!u32 {
        return std.mem.readInt(u32, (try r.take(4))[0..4], .little);
    }

    fn number(r: *Reader) Error!f64 {
        return @bitCast(std.mem.readInt(u64, (try r.take(8))[0..8], .little));
    }

    fn flag(r: *Reader) Error!bool {
        return switch (try r.byte()) {
            0 => false,
            1 => true,
            else => error.UnknownValue,
        };
    }

    fn value(r: *Reader, comptime Value: type) Error!Value {
        return std.enums.fromInt(Value, try r.byte()) orelse error.UnknownValue;
    }

    fn short(r: *Reader) Error![]const u8 {
        return r.take(try r.byte());
    }

    fn long(r: *Reader) Error![]const u8 {
        return r.take(try r.word());
    }

    fn texts(r: *Reader) Error!Texts {
        const len = try r.byte();
        const start = r.at;
        for (0..len) |_| _ = try r.long();
        return .{ .len = len, .bytes = r.bytes[start..r.at] };
    }

    fn headers(r: *Reader) Error!Headers {
        const len = try r.byte();
        const start = r.at;
        for (0..len) |_| {
            _ = try r.short();
            _ = try r.long();
        }
        return .{ .len = len, .bytes = r.bytes[start..r.at] };
    }

    fn numbers(r: *Reader) Error!Numbers {
        const len = try r.byte();
        return .{ .len = len, .bytes = try r.take(@as(usize, len) * 8) };
    }
};
