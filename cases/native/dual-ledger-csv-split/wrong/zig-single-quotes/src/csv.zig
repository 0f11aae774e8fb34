//! The ledger as a CSV file.

const std = @import("std");
const ledger = @import("ledger.zig");

const header = "date,payee,category,amount\n";

/// A payee may be all quotes; an amount has a sign, at most 19 digits and a dot.
const max_line_bytes = "2026-03-31,".len + 2 + 2 * ledger.max_field_bytes + ",income,".len + 21 + "\n".len;

/// How long the file of so many entries can be.
pub fn maxBytes(comptime entries: usize) usize {
    return header.len + entries * max_line_bytes;
}

/// A header and a line for each entry, in their order.
pub fn write(entries: []const ledger.Entry, writer: *std.Io.Writer) std.Io.Writer.Error!void {
    try writer.writeAll(header);
    for (entries) |*entry| {
        try ledger.writeDate(entry.day, writer);
        try writer.writeByte(',');
        try writeField(entry.payee(), writer);
        try writer.print(",{t},", .{entry.category});
        try ledger.writeCents(entry.cents, writer);
        try writer.writeByte('\n');
    }
}

/// A field that holds what would end it is put in quotes.
fn writeField(text: []const u8, writer: *std.Io.Writer) std.Io.Writer.Error!void {
    if (std.mem.indexOfAny(u8, text, ",\"\r\n") == null) return writer.writeAll(text);
    try writer.writeByte('"');
    try writer.writeAll(text);
    try writer.writeByte('"');
}
