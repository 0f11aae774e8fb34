//! What an entry of the ledger is, and its days and amounts as texts.

const std = @import("std");

pub const max_field_bytes = 60;
pub const last_day = 31;

pub const Category = enum { food, home, travel, income };

pub const Entry = struct {
    id: u32 = 0,
    /// Of the month, from 1 on.
    day: u8 = 1,
    category: Category = .food,
    /// What was spent is below zero.
    cents: i64 = 0,
    payee_storage: [max_field_bytes]u8 = undefined,
    payee_len: usize = 0,

    pub fn payee(entry: *const Entry) []const u8 {
        return entry.payee_storage[0..entry.payee_len];
    }
};

/// Such as 2026-03-09.
pub fn writeDate(day: u8, writer: *std.Io.Writer) std.Io.Writer.Error!void {
    try writer.print("2026-03-{d:0>2}", .{day});
}

/// Such as -0.05.
pub fn writeCents(cents: i64, writer: *std.Io.Writer) std.Io.Writer.Error!void {
    if (cents < 0) try writer.writeByte('-');
    try writer.print("{d}.{d:0>2}", .{ @abs(cents) / 100, @abs(cents) % 100 });
}

/// An amount such as -12, 12.5 or 12.50; null for anything else.
pub fn parsedCents(text: []const u8) ?i64 {
    const negative = text.len > 0 and text[0] == '-';
    var cents: i64 = 0;
    var digits: usize = 0;
    var decimals: ?usize = null;
    for (text[@intFromBool(negative)..]) |byte| switch (byte) {
        '.' => {
            if (decimals != null or digits == 0) return null;
            decimals = 0;
        },
        '0'...'9' => {
            if (decimals == 2 or digits == 9) return null;
            cents = cents * 10 + (byte - '0');
            digits += 1;
            if (decimals) |*count| count.* += 1;
        },
        else => return null,
    };
    if (digits == 0) return null;
    const scale: i64 = switch (decimals orelse return if (negative) -cents * 100 else cents * 100) {
        0 => return null,
        1 => 10,
        else => 1,
    };
    return if (negative) -cents * scale else cents * scale;
}

pub fn totalCents(entries: []const Entry) i64 {
    var total: i64 = 0;
    for (entries) |entry| total += entry.cents;
    return total;
}

pub fn dateText(day: u8, arena: std.mem.Allocator) []const u8 {
    var writer = std.Io.Writer.Allocating.init(arena);
    writeDate(day, &writer.writer) catch return "";
    return writer.written();
}

pub fn centsText(cents: i64, arena: std.mem.Allocator) []const u8 {
    var writer = std.Io.Writer.Allocating.init(arena);
    writeCents(cents, &writer.writer) catch return "";
    return writer.written();
}
