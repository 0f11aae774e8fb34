//! A kanban board: `Model`, `Msg` and `update`. The view is `app.native`.
//!
//! The model keeps one flat list of cards, each with the column it is in.
//! Columns and counts are derived from it, so a card cannot be in two columns
//! or in none, and no cached number can go stale.

const std = @import("std");
const runner = @import("runner");
const native_sdk = @import("native_sdk");

pub const panic = std.debug.FullPanic(native_sdk.debug.capturePanic);

const canvas = native_sdk.canvas;
const geometry = native_sdk.geometry;

pub const canvas_label = "main-canvas";
pub const window_size = geometry.SizeF.init(960, 640);
/// The floor that tests.zig proves: three columns side by side still fit.
pub const window_min_size = geometry.SizeF.init(880, 420);

const app_permissions = [_][]const u8{ native_sdk.security.permission_command, native_sdk.security.permission_view };
const shell_views = [_]native_sdk.ShellView{
    .{ .label = canvas_label, .kind = .gpu_surface, .fill = true, .role = "Kanban board canvas", .accessibility_label = "Kanban board", .gpu_backend = .metal, .gpu_pixel_format = .bgra8_unorm, .gpu_present_mode = .timer, .gpu_alpha_mode = .@"opaque", .gpu_color_space = .srgb, .gpu_vsync = true },
};
const shell_windows = [_]native_sdk.ShellWindow{.{
    .label = "main",
    .title = "Kanban Board",
    .width = window_size.width,
    .height = window_size.height,
    .min_width = window_min_size.width,
    .min_height = window_min_size.height,
    .restore_state = false,
    .views = &shell_views,
}};
const shell_scene: native_sdk.ShellConfig = .{ .windows = &shell_windows };

// ------------------------------------------------------------------ model

pub const Direction = enum { left, right };

pub const Column = enum {
    todo,
    doing,
    done,

    /// The neighbouring column, or null past an edge. This is the only place
    /// that knows the order of the columns: `update` refuses a move where it
    /// is null, and the view disables the button for the same reason.
    pub fn neighbour(column: Column, direction: Direction) ?Column {
        return switch (direction) {
            .left => switch (column) {
                .todo => null,
                .doing => .todo,
                .done => .doing,
            },
            .right => switch (column) {
                .todo => .doing,
                .doing => .done,
                .done => null,
            },
        };
    }
};

pub const max_title_bytes = 80;
/// A view has a fixed budget of 1024 widgets and a card costs eight of them, so
/// the list is bounded at about half of that.
pub const max_cards = 60;

pub const Card = struct {
    /// Never reused, and never changed by a move: it is the card's identity.
    id: u32 = 0,
    column: Column = .todo,
    blocked: bool = false,
    /// The title's bytes live in the card: the draft that they came from is
    /// cleared as soon as the card exists.
    title_storage: [max_title_bytes]u8 = undefined,
    title_len: usize = 0,

    pub fn title(card: *const Card) []const u8 {
        return card.title_storage[0..card.title_len];
    }

    pub fn atLeftEdge(card: *const Card) bool {
        return card.column.neighbour(.left) == null;
    }

    pub fn atRightEdge(card: *const Card) bool {
        return card.column.neighbour(.right) == null;
    }
};

pub const Msg = union(enum) {
    move_left: u32,
    move_right: u32,
    toggle_blocked: u32,
    draft_edit: canvas.TextInputEvent,
    add_card,
};

pub const Model = struct {
    /// In stacking order: a column shows its cards in the order they have here.
    cards: [max_cards]Card = @splat(.{}),
    card_count: usize = 0,
    next_id: u32 = 1,
    draft_buffer: canvas.TextBuffer(max_title_bytes) = .{},

    /// The view reads these through the functions below, never by name.
    pub const view_unbound = .{ "cards", "card_count", "next_id", "draft_buffer", "all" };

    // What the view binds: every value is computed from the list on each build.

    pub fn todoCards(model: *const Model, arena: std.mem.Allocator) []const Card {
        return model.cardsIn(.todo, arena);
    }

    pub fn doingCards(model: *const Model, arena: std.mem.Allocator) []const Card {
        return model.cardsIn(.doing, arena);
    }

    pub fn doneCards(model: *const Model, arena: std.mem.Allocator) []const Card {
        return model.cardsIn(.done, arena);
    }

    pub fn todoCount(model: *const Model) usize {
        return model.countIn(.todo);
    }

    pub fn doingCount(model: *const Model) usize {
        return model.countIn(.doing);
    }

    pub fn doneCount(model: *const Model) usize {
        return model.countIn(.done);
    }

    pub fn cardCount(model: *const Model) usize {
        return model.card_count;
    }

    pub fn capacity(_: *const Model) usize {
        return max_cards;
    }

    pub fn blockedCount(model: *const Model) usize {
        var count: usize = 0;
        for (model.all()) |card| count += @intFromBool(card.blocked);
        return count;
    }

    pub fn draft(model: *const Model) []const u8 {
        return model.draft_buffer.text();
    }

    /// The rule for adding, said once: `update` obeys it and the button shows it.
    pub fn canAdd(model: *const Model) bool {
        return model.card_count < max_cards and !model.draft_buffer.isEmpty();
    }

    // Queries and steps for `update` and the tests.

    pub fn all(model: *const Model) []const Card {
        return model.cards[0..model.card_count];
    }

    pub fn cardById(model: *const Model, id: u32) ?*const Card {
        return &model.cards[model.indexOf(id) orelse return null];
    }

    fn cardsIn(model: *const Model, column: Column, arena: std.mem.Allocator) []const Card {
        const out = arena.alloc(Card, model.countIn(column)) catch return &.{};
        var len: usize = 0;
        for (model.all()) |card| {
            if (card.column != column) continue;
            out[len] = card;
            len += 1;
        }
        return out;
    }

    fn countIn(model: *const Model, column: Column) usize {
        var count: usize = 0;
        for (model.all()) |card| count += @intFromBool(card.column == column);
        return count;
    }

    fn indexOf(model: *const Model, id: u32) ?usize {
        for (model.all(), 0..) |card, index| {
            if (card.id == id) return index;
        }
        return null;
    }

    /// Moves a card one column; a move past an edge does nothing.
    fn moveCard(model: *Model, id: u32, direction: Direction) void {
        const card = &model.cards[model.indexOf(id) orelse return];
        card.column = card.column.neighbour(direction) orelse return;
    }

    /// Appends a card. The caller has made sure that there is room.
    fn append(model: *Model, title: []const u8, column: Column) void {
        var card: Card = .{ .id = model.next_id, .column = column, .title_len = title.len };
        @memcpy(card.title_storage[0..title.len], title);
        model.cards[model.card_count] = card;
        model.card_count += 1;
        model.next_id += 1;
    }
};

pub fn update(model: *Model, msg: Msg) void {
    switch (msg) {
        .move_left => |id| model.moveCard(id, .left),
        .move_right => |id| model.moveCard(id, .right),
        .toggle_blocked => |id| {
            const index = model.indexOf(id) orelse return;
            model.cards[index].blocked = !model.cards[index].blocked;
        },
        .draft_edit => |edit| model.draft_buffer.apply(edit),
        .add_card => {
            // Enter in the field arrives here too, whatever the button shows.
            if (!model.canAdd()) return;
            model.append(std.mem.trim(u8, model.draft(), " \t"), .todo);
            model.draft_buffer.clear();
        },
    }
}

const Seed = struct { title: []const u8, column: Column };
const seeds = [_]Seed{
    .{ .title = "Sketch the onboarding flow", .column = .todo },
    .{ .title = "Collect beta feedback", .column = .todo },
    .{ .title = "Write release notes", .column = .todo },
    .{ .title = "Fix login timeout", .column = .doing },
    .{ .title = "Review pricing page", .column = .doing },
    .{ .title = "Set up analytics", .column = .done },
};

pub fn initialModel() Model {
    var model: Model = .{};
    for (seeds) |seed| model.append(seed.title, seed.column);
    return model;
}

// ------------------------------------------------------------- view and app

pub const AppUi = canvas.Ui(Msg);
pub const app_markup = @embedFile("app.native");

pub const BoardApp = native_sdk.UiApp(Model, Msg);

/// One set of options for the real app and for the tests that run it headless.
pub fn appOptions() BoardApp.Options {
    return .{
        .name = "app",
        .scene = shell_scene,
        .canvas_label = canvas_label,
        .update = update,
        .markup = .{ .source = app_markup },
    };
}

pub fn main(init: std.process.Init) !void {
    var options = appOptions();
    // Hot reload needs a file system, which only the real app has.
    options.markup = .{ .source = app_markup, .watch_path = "src/app.native", .io = init.io };

    const app_state = try BoardApp.create(std.heap.page_allocator, options);
    defer app_state.destroy();
    app_state.model = initialModel();

    try runner.runWithOptions(app_state.app(), .{
        .app_name = "app",
        .window_title = "Kanban Board",
        .bundle_id = "dev.native_sdk.app",
        .icon_path = "assets/icon.png",
        .default_frame = geometry.RectF.init(0, 0, window_size.width, window_size.height),
        .restore_state = false,
        .js_window_api = false,
        .security = .{
            .permissions = &app_permissions,
            .navigation = .{ .allowed_origins = &.{ "zero://inline", "zero://app" } },
        },
    }, init);
}

test {
    _ = @import("tests.zig");
}
