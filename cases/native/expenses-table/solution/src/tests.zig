//! The ledger as it is read: rows and cells of the built table, in their order.

const std = @import("std");
const canvas = @import("native_sdk").canvas;
const main = @import("main.zig");
const screens = @import("screen.zig");

const testing = std.testing;
const Screen = screens.Screen;
const Running = screens.Running;

const header = [_][]const u8{ "Date", "Description", "Category", "Amount" };
const lunch = [_][]const u8{ "2026-03-02", "Team lunch", "Food", "$84.50" };
const train = [_][]const u8{ "2026-03-03", "Train to Bonn", "Travel", "$129.00" };
const desk = [_][]const u8{ "2026-03-05", "Standing desk", "Office", "$1,249.99" };
const coffee = [_][]const u8{ "2026-03-09", "Coffee beans", "Food", "$23.05" };
const hotel = [_][]const u8{ "2026-03-12", "Hotel in Bonn", "Travel", "$310.80" };
const paper = [_][]const u8{ "2026-03-15", "Printer paper", "Office", "$18.00" };

/// The table has its header and these rows, cell by cell, and no other row.
fn expectTable(screen: *const Screen, rows: []const [4][]const u8) !void {
    const table = try screen.find(.table, "Expenses");
    try testing.expectEqual(rows.len + 1, table.children.len);
    try expectRow(table.children[0], header);
    for (table.children[1..], rows) |row, cells| try expectRow(row, cells);
}

fn expectRow(row: canvas.Widget, cells: [4][]const u8) !void {
    try testing.expectEqual(.data_row, row.kind);
    try testing.expectEqual(cells.len, row.children.len);
    for (row.children, cells) |cell, text| {
        try testing.expectEqual(.data_cell, cell.kind);
        try testing.expectEqualStrings(text, cell.text);
    }
}

fn expectChosen(screen: *const Screen, chosen: []const u8) !void {
    for ([_][]const u8{ "All", "Food", "Travel", "Office", "Training" }) |name| {
        try testing.expectEqual(std.mem.eql(u8, name, chosen), (try screen.find(.toggle_button, name)).state.selected);
    }
}

test "the whole ledger is there at first, by date" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    try expectTable(&screen, &.{ lunch, train, desk, coffee, hotel, paper });
    try expectChosen(&screen, "All");
    try screen.expectSeen(.status_bar, "6 expenses, $1,815.34 in total");
}

test "a category shows its rows and their total, and only one is chosen" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    try screen.click(.toggle_button, "Food");
    try expectTable(&screen, &.{ lunch, coffee });
    try expectChosen(&screen, "Food");
    try screen.expectSeen(.status_bar, "2 expenses, $107.55 in total");

    try screen.click(.toggle_button, "Travel");
    try expectTable(&screen, &.{ train, hotel });
    try expectChosen(&screen, "Travel");
    try screen.expectSeen(.status_bar, "2 expenses, $439.80 in total");

    try screen.click(.toggle_button, "Office");
    try expectTable(&screen, &.{ desk, paper });
    try screen.expectSeen(.status_bar, "2 expenses, $1,267.99 in total");

    try screen.click(.toggle_button, "All");
    try expectTable(&screen, &.{ lunch, train, desk, coffee, hotel, paper });
}

test "largest first orders what is shown, and by date again afterwards" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    try screen.click(.switch_control, "Largest first");
    try expectTable(&screen, &.{ desk, hotel, train, lunch, coffee, paper });
    // The order stays when something else is shown.
    try screen.click(.toggle_button, "Travel");
    try expectTable(&screen, &.{ hotel, train });
    try screen.click(.switch_control, "Largest first");
    try expectTable(&screen, &.{ train, hotel });
}

test "a row is the same row wherever the order puts it" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    const before = (try screen.find(.table, "Expenses")).children[3].id;
    try screen.click(.switch_control, "Largest first");
    try testing.expectEqual(before, (try screen.find(.table, "Expenses")).children[1].id);
}

test "a category without expenses says so, and leads back" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    try screen.expectUnseen(.alert, "No expenses here");
    try screen.click(.toggle_button, "Training");
    try screen.expectUnseen(.table, "Expenses");
    const callout = try screen.find(.alert, "No expenses here");
    _ = try screens.findIn(callout, .text, "Nothing was spent on Training yet.");
    try screen.expectSeen(.status_bar, "0 expenses, $0.00 in total");

    try screen.click(.button, "Show all expenses");
    try screen.expectUnseen(.alert, "No expenses here");
    try expectChosen(&screen, "All");
    try expectTable(&screen, &.{ lunch, train, desk, coffee, hotel, paper });
}

test "money has two decimals, and commas between thousands" {
    var arena_state = std.heap.ArenaAllocator.init(testing.allocator);
    defer arena_state.deinit();
    const arena = arena_state.allocator();
    try testing.expectEqualStrings("$0.05", main.money(arena, 5));
    try testing.expectEqualStrings("$999.99", main.money(arena, 99_999));
    try testing.expectEqualStrings("$1,000.00", main.money(arena, 100_000));
    try testing.expectEqualStrings("$12,034,005.60", main.money(arena, 1_203_400_560));
}

test "the view is sound at every size of the window, with rows and without" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();
    try screen.expectSound();
    try screen.click(.toggle_button, "Training");
    try screen.expectSound();
}

test "the running app announces a grid of rows and cells" {
    const running = try Running.start();
    defer running.stop();
    try running.expectAnnounced(&.{
        &.{ "role=grid", "name=\"Expenses\"", "row_count=7", "column_count=4" },
        &.{"role=row"},
        &.{ "role=gridcell", "name=\"Amount\"" },
        &.{ "role=gridcell", "name=\"Standing desk\"" },
        &.{ "role=gridcell", "name=\"$1,249.99\"" },
        &.{ "name=\"All\"", "selected" },
        &.{"name=\"6 expenses, $1,815.34 in total\""},
    });
}
