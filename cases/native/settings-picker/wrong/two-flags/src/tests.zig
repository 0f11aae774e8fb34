//! Lists are opened, dismissed and picked from in the built view.

const std = @import("std");
const native_sdk = @import("native_sdk");
const main = @import("main.zig");
const screens = @import("screen.zig");

const canvas = native_sdk.canvas;
const geometry = native_sdk.geometry;
const testing = std.testing;
const Screen = screens.Screen;
const Running = screens.Running;

const theme_names = [_][]const u8{ "System", "Light", "Dark" };
const accent_names = [_][]const u8{ "Blue", "Green", "Orange", "Violet" };

/// The list of that name is open, has these items, and marks one of them.
fn expectOpen(screen: *const Screen, name: []const u8, items: []const []const u8, marked: []const u8) !void {
    try screen.expectNames(.dropdown_menu, &.{name});
    try screen.expectNames(.menu_item, items);
    for (items) |item| {
        try testing.expectEqual(std.mem.eql(u8, item, marked), (try screen.find(.menu_item, item)).state.selected);
    }
}

fn expectClosed(screen: *const Screen) !void {
    try screen.expectNames(.dropdown_menu, &.{});
    try screen.expectNames(.menu_item, &.{});
}

fn dismiss(screen: *Screen, name: []const u8) !void {
    const menu = try screen.find(.dropdown_menu, name);
    try screen.send(screen.tree.msgForDismiss(menu.id) orelse return error.ControlSendsNothing);
}

test "both lists are closed at first" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    try screen.expectNames(.select, &.{ "Theme: System", "Accent: Blue" });
    try expectClosed(&screen);
    try screen.expectSeen(.status_bar, "Theme: System, accent: Blue");
}

test "pressing a setting opens its list, and pressing it again closes it" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    try screen.click(.select, "Theme: System");
    try expectOpen(&screen, "Theme", &theme_names, "System");
    try screen.click(.select, "Theme: System");
    try expectClosed(&screen);
    try screen.expectSeen(.status_bar, "Theme: System, accent: Blue");
}

test "picking sets the value, closes the list and leaves the other setting alone" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    try screen.click(.select, "Theme: System");
    try screen.click(.menu_item, "Dark");
    try expectClosed(&screen);
    try screen.expectNames(.select, &.{ "Theme: Dark", "Accent: Blue" });

    try screen.click(.select, "Accent: Blue");
    try expectOpen(&screen, "Accent", &accent_names, "Blue");
    try screen.click(.menu_item, "Violet");
    try screen.expectSeen(.status_bar, "Theme: Dark, accent: Violet");

    // The list marks what was picked before.
    try screen.click(.select, "Accent: Violet");
    try expectOpen(&screen, "Accent", &accent_names, "Violet");
}

test "opening one list closes the other" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    try screen.click(.select, "Theme: System");
    try screen.click(.select, "Accent: Blue");
    try expectOpen(&screen, "Accent", &accent_names, "Blue");
    try screen.click(.select, "Theme: System");
    try expectOpen(&screen, "Theme", &theme_names, "System");
}

test "dismissing closes the list and picks nothing" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    try screen.click(.select, "Accent: Blue");
    try dismiss(&screen, "Accent");
    try expectClosed(&screen);
    try screen.expectSeen(.status_bar, "Theme: System, accent: Blue");
}

test "a list that is dismissed late does not close the one that was opened since" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    try screen.click(.select, "Theme: System");
    const menu = try screen.find(.dropdown_menu, "Theme");
    const late = screen.tree.msgForDismiss(menu.id).?;
    try screen.click(.select, "Accent: Blue");
    try screen.send(late);
    try expectOpen(&screen, "Accent", &accent_names, "Blue");
}

test "an open list moves nothing else" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();

    const closed = try frameOf(&screen, .select, "Accent: Blue");
    try screen.click(.select, "Theme: System");
    const open = try frameOf(&screen, .select, "Accent: Blue");
    try testing.expectEqual(closed, open);
    // It lies below what it belongs to, over the row beneath.
    const menu = try frameOf(&screen, .dropdown_menu, "Theme");
    const trigger = try frameOf(&screen, .select, "Theme: System");
    try testing.expect(menu.y >= trigger.y + trigger.height);
    try testing.expect(menu.y + menu.height > open.y);
}

fn frameOf(screen: *const Screen, kind: canvas.WidgetKind, name: []const u8) !geometry.RectF {
    const widget = try screen.find(kind, name);
    var nodes: [128]canvas.WidgetLayoutNode = undefined;
    const window = geometry.RectF.init(0, 0, main.window_size.width, main.window_size.height);
    const layout = try canvas.layoutWidgetTree(screen.tree.root, window, &nodes);
    for (layout.nodes) |node| {
        if (node.widget.id == widget.id) return node.frame;
    }
    return error.WidgetNotFound;
}

test "the view is sound at every size of the window" {
    var screen: Screen = undefined;
    try screen.init();
    defer screen.deinit();
    try screen.expectSound();
}

test "the running app opens, dismisses and picks" {
    const running = try Running.start();
    defer running.stop();
    try running.expectAnnounced(&.{
        &.{ "role=button", "name=\"Theme: System\"" },
        &.{ "role=button", "name=\"Accent: Blue\"" },
        &.{"name=\"Theme: System, accent: Blue\""},
    });

    const trigger = try screens.findIn(running.app_state.tree.?.root, .select, "Theme: System");
    try running.command("widget-click {s} {d}", .{ main.canvas_label, trigger.id });
    try running.expectAnnounced(&.{&.{ "role=menuitem", "name=\"Dark\"" }});

    const item = try screens.findIn(running.app_state.tree.?.root, .menu_item, "Dark");
    try running.command("widget-click {s} {d}", .{ main.canvas_label, item.id });
    try running.expectAnnounced(&.{&.{"name=\"Theme: Dark, accent: Blue\""}});
    try testing.expect(!running.app_state.model.theme_open);
}
