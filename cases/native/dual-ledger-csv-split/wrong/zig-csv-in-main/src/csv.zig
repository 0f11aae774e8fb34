//! A field of a CSV file.

const std = @import("std");

/// A field that holds what would end it is put in quotes, and its own quotes are
/// doubled.
pub fn writeField(text: []const u8, writer: *std.Io.Writer) std.Io.Writer.Error!void {
    if (std.mem.indexOfAny(u8, text, ",\"\r\n") == null) return writer.writeAll(text);
    try writer.writeByte('"');
    for (text) |byte| {
        if (byte == '"') try writer.writeByte('"');
        try writer.writeByte(byte);
    }
    try writer.writeByte('"');
}
