//! What the prompt of dual-ledger-csv-split promises, on the app's own Model, Msg and update: the effects channel only writes
//! down what it is asked for, and the harness says how a write ends. harness-ts.zig is the same spec, test for test.

const std = @import("std");
const native_sdk = @import("native_sdk");
const main = @import("main.zig");

const testing = std.testing;
const allocator = testing.allocator;

const App = struct {
    model: main.Model,
    fx: main.Effects,
    arena: std.heap.ArenaAllocator,

    fn stop(app: *App) void {
        app.fx.deinit();
        app.arena.deinit();
        allocator.destroy(app);
    }

    fn send(app: *App, msg: main.Msg) void {
        main.update(&app.model, msg, &app.fx);
        app.drain();
    }

    fn drain(app: *App) void {
        while (app.fx.takeMsg()) |msg| main.update(&app.model, msg, &app.fx);
    }
};

fn start() !*App {
    const app = try allocator.create(App);
    app.* = .{ .model = main.initialModel(), .fx = .init(allocator), .arena = .init(allocator) };
    app.fx.executor = .fake;
    return app;
}

// ---- what a user does ----
fn typePayee(app: *App, text: []const u8) !void {
    app.send(.{ .payee_edit = .{ .insert_text = text } });
}

fn typeAmount(app: *App, text: []const u8) !void {
    app.send(.{ .amount_edit = .{ .insert_text = text } });
}

fn clearAmount(app: *App) !void {
    app.send(.{ .amount_edit = .clear });
}

fn addEntry(app: *App) !void {
    app.send(.add_entry);
}

fn setCategory(app: *App, category: []const u8) !void {
    app.send(.{ .set_category = std.meta.stringToEnum(@FieldType(main.Msg, "set_category"), category).? });
}

fn dayBack(app: *App) !void {
    app.send(.day_back);
}

fn delete(app: *App, id: u32) !void {
    app.send(.{ .delete_entry = id });
}

fn toggleOrder(app: *App) !void {
    app.send(.toggle_order);
}

fn exportCsv(app: *App) !void {
    app.send(.export_csv);
}

// ---- what the world does ----
fn exportEnds(app: *App, outcome: native_sdk.EffectFileOutcome) !void {
    const write = app.fx.pendingFileAt(0) orelse return error.TestNoExportUnderWay;
    try app.fx.feedFileResult(write.key, outcome, "");
    app.drain();
}

fn exportLands(app: *App) !void {
    try exportEnds(app, .ok);
}

fn exportFails(app: *App) !void {
    try exportEnds(app, .io_failed);
}

// ---- what is to be seen ----
fn expectState(app: *App, state: []const u8) !void {
    const found = if (comptime @hasField(main.Model, "exportState")) app.model.exportState else app.model.exportState();
    try testing.expectEqualStrings(state, @tagName(found));
}

/// One write of these bytes is under way.
fn expectExporting(app: *App, bytes: []const u8) !void {
    try testing.expectEqual(1, app.fx.pendingFileCount());
    const write = app.fx.pendingFileAt(0).?;
    try testing.expectEqual(.write, write.op);
    try testing.expectEqualStrings("ledger.csv", write.path);
    try testing.expectEqualStrings(bytes, write.bytes);
}

fn expectNoExport(app: *App) !void {
    try testing.expectEqual(0, app.fx.pendingFileCount());
}

fn expectLedger(app: *App, count: usize, balance: []const u8) !void {
    try testing.expectEqual(count, app.model.entryCount());
    try testing.expectEqualStrings(balance, app.model.balance(app.arena.allocator()));
}

/// A line of the table, from the top.
fn expectRow(app: *App, index: usize, date: []const u8, payee: []const u8, category: []const u8, amount: []const u8) !void {
    const row = app.model.rows(app.arena.allocator())[index];
    try testing.expectEqualStrings(date, row.date);
    try testing.expectEqualStrings(payee, row.payee);
    try testing.expectEqualStrings(category, @tagName(row.category));
    try testing.expectEqualStrings(amount, row.amount);
}

const header = "date,payee,category,amount\n";
const grocer = "2026-03-02,\"Green Grocer, Market St\",food,-23.50\n";
const salary = "2026-03-05,Salary,income,2100.00\n";
const mill = "2026-03-09,\"The \"\"Old\"\" Mill\",food,-18.05\n";
const plumber = "2026-03-14,Plumber,home,-90.00\n";
const train = "2026-03-21,\"Train, 2nd class, \"\"Flex\"\"\",travel,-49.90\n";
const seeded = header ++ grocer ++ salary ++ mill ++ plumber ++ train;

fn add(app: *App, payee: []const u8, amount: []const u8) !void {
    try typePayee(app, payee);
    try typeAmount(app, amount);
    try addEntry(app);
}

// ---- what the split must not change ----
test "the seeded ledger, its rows and its balance" {
    const app = try start();
    defer app.stop();
    try expectLedger(app, 5, "1918.55");
    try expectRow(app, 0, "2026-03-02", "Green Grocer, Market St", "food", "-23.50");
    try expectRow(app, 4, "2026-03-21", "Train, 2nd class, \"Flex\"", "travel", "-49.90");
    try toggleOrder(app);
    try expectRow(app, 0, "2026-03-21", "Train, 2nd class, \"Flex\"", "travel", "-49.90");
    try expectRow(app, 4, "2026-03-02", "Green Grocer, Market St", "food", "-23.50");
}

test "adding takes the fields, the day and the category" {
    const app = try start();
    defer app.stop();
    try dayBack(app);
    try setCategory(app, "home");
    try add(app, "  Paint ", " -7.5 ");
    try expectLedger(app, 6, "1911.05");
    try expectRow(app, 5, "2026-03-30", "Paint", "home", "-7.50");
    try add(app, "Refund", "0.05");
    try expectRow(app, 6, "2026-03-30", "Refund", "home", "0.05");
    try delete(app, 4);
    try expectLedger(app, 6, "2001.10");
}

test "what is no amount adds nothing" {
    const app = try start();
    defer app.stop();
    try typePayee(app, "Paint");
    for ([_][]const u8{ "x", "-", ".5", "5.", "1.234", "1,50", "--1", "" }) |text| {
        try typeAmount(app, text);
        try addEntry(app);
        try clearAmount(app);
    }
    try expectLedger(app, 5, "1918.55");
    try typeAmount(app, "1");
    try addEntry(app);
    try expectLedger(app, 6, "1919.55");
    try add(app, "   ", "1");
    try expectLedger(app, 6, "1919.55");
}

// ---- the export ----
test "nothing is exported before it is asked for" {
    const app = try start();
    defer app.stop();
    try expectState(app, "idle");
    try add(app, "Paint", "-1");
    try expectState(app, "idle");
    try expectNoExport(app);
}

test "the seeded ledger as bytes" {
    const app = try start();
    defer app.stop();
    try exportCsv(app);
    try expectState(app, "exporting");
    try expectExporting(app, seeded);
}

test "only a field that needs quotes gets them" {
    const app = try start();
    defer app.stop();
    try add(app, "\"", "1");
    try add(app, ",", "1");
    try add(app, "two\nlines", "1");
    try add(app, "a\rb", "1");
    try add(app, "it's; plain\tenough", "1");
    try exportCsv(app);
    try expectExporting(app, seeded ++
        "2026-03-31,\"\"\"\",food,1.00\n" ++
        "2026-03-31,\",\",food,1.00\n" ++
        "2026-03-31,\"two\nlines\",food,1.00\n" ++
        "2026-03-31,\"a\rb\",food,1.00\n" ++
        "2026-03-31,it's; plain\tenough,food,1.00\n");
}

test "amounts have two decimals and no separators" {
    const app = try start();
    defer app.stop();
    try add(app, "a", "-0.05");
    try add(app, "b", "7");
    try add(app, "c", "1234567.8");
    try add(app, "d", "0");
    try exportCsv(app);
    try expectExporting(app, seeded ++
        "2026-03-31,a,food,-0.05\n" ++
        "2026-03-31,b,food,7.00\n" ++
        "2026-03-31,c,food,1234567.80\n" ++
        "2026-03-31,d,food,0.00\n");
}

test "the order of the screen is not the order of the file" {
    const app = try start();
    defer app.stop();
    try toggleOrder(app);
    try delete(app, 2);
    try exportCsv(app);
    try expectExporting(app, header ++ grocer ++ mill ++ plumber ++ train);
}

test "an empty ledger is a header" {
    const app = try start();
    defer app.stop();
    for (1..6) |id| try delete(app, @intCast(id));
    try expectLedger(app, 0, "0.00");
    try exportCsv(app);
    try expectExporting(app, header);
}

test "one export at a time" {
    const app = try start();
    defer app.stop();
    try exportCsv(app);
    try delete(app, 1);
    try exportCsv(app);
    try expectState(app, "exporting");
    try expectExporting(app, seeded);
    try exportLands(app);
    try expectNoExport(app);
}

test "an export that lands is told, and another can follow" {
    const app = try start();
    defer app.stop();
    try exportCsv(app);
    try exportLands(app);
    try expectState(app, "exported");
    try expectNoExport(app);
    try exportCsv(app);
    try expectState(app, "exporting");
    try expectExporting(app, seeded);
}

test "an export that fails is told, and can be tried again" {
    const app = try start();
    defer app.stop();
    try exportCsv(app);
    try exportFails(app);
    try expectState(app, "failed");
    try expectNoExport(app);
    try exportCsv(app);
    try expectState(app, "exporting");
    try exportLands(app);
    try expectState(app, "exported");
    try exportCsv(app);
    try exportFails(app);
    try expectState(app, "failed");
}

test "a change of the ledger makes it idle again" {
    const app = try start();
    defer app.stop();
    try exportCsv(app);
    try exportLands(app);
    try toggleOrder(app);
    try typePayee(app, "Pai");
    try delete(app, 77);
    try expectState(app, "exported");
    try typePayee(app, "nt");
    try typeAmount(app, "-1");
    try addEntry(app);
    try expectState(app, "idle");
    try exportCsv(app);
    try exportFails(app);
    try expectState(app, "failed");
    try delete(app, 6);
    try expectState(app, "idle");
    try exportCsv(app);
    try expectExporting(app, seeded);
}

test "a change during an export is not taken for exported" {
    const app = try start();
    defer app.stop();
    try exportCsv(app);
    try delete(app, 4);
    try expectState(app, "exporting");
    try exportLands(app);
    try expectState(app, "idle");
    try exportCsv(app);
    try expectExporting(app, header ++ grocer ++ salary ++ mill ++ train);
    try delete(app, 3);
    try exportFails(app);
    try expectState(app, "failed");
}
