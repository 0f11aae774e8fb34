//! Habits and their streaks. A habit keeps how many days in a row it was done up
//! to yesterday, and whether it is done today; the streak is the sum of the two.

const std = @import("std");
const runner = @import("runner");
const native_sdk = @import("native_sdk");

pub const panic = std.debug.FullPanic(native_sdk.debug.capturePanic);

const canvas = native_sdk.canvas;
const geometry = native_sdk.geometry;

pub const canvas_label = "main-canvas";
pub const window_size = geometry.SizeF.init(520, 600);
/// The smallest window; tests.zig shows that everything fits in it.
pub const window_min_size = geometry.SizeF.init(420, 360);

const app_permissions = [_][]const u8{ native_sdk.security.permission_command, native_sdk.security.permission_view };
const shell_views = [_]native_sdk.ShellView{
    .{ .label = canvas_label, .kind = .gpu_surface, .fill = true, .role = "Habits canvas", .accessibility_label = "Habits", .gpu_backend = .metal, .gpu_pixel_format = .bgra8_unorm, .gpu_present_mode = .timer, .gpu_alpha_mode = .@"opaque", .gpu_color_space = .srgb, .gpu_vsync = true },
};
const shell_windows = [_]native_sdk.ShellWindow{.{
    .label = "main",
    .title = "Habits",
    .width = window_size.width,
    .height = window_size.height,
    .min_width = window_min_size.width,
    .min_height = window_min_size.height,
    .restore_state = false,
    .views = &shell_views,
}};
const shell_scene: native_sdk.ShellConfig = .{ .windows = &shell_windows };

// ------------------------------------------------------------------ model

pub const max_name_bytes = 60;
pub const max_habits = 40;

pub const Habit = struct {
    id: u32 = 0,
    days_before: u32 = 0,
    done: bool = false,
    name_storage: [max_name_bytes]u8 = undefined,
    name_len: usize = 0,

    pub fn name(habit: *const Habit) []const u8 {
        return habit.name_storage[0..habit.name_len];
    }

    pub fn streak(habit: *const Habit) u32 {
        return habit.days_before + @intFromBool(habit.done);
    }
};

pub const Filter = enum {
    all,
    due,
    done,

    fn shows(filter: Filter, habit: Habit) bool {
        return switch (filter) {
            .all => true,
            .due => !habit.done,
            .done => habit.done,
        };
    }
};

/// A habit as the view shows it.
pub const Row = struct { key: u64, id: u32, name: []const u8, streak: u32, done: bool };

pub const FilterChoice = struct { filter: Filter, name: []const u8 };

pub const Msg = union(enum) {
    draft_edit: canvas.TextInputEvent,
    add_habit,
    toggle_done: u32,
    remove_habit: u32,
    show: Filter,
    new_day,
};

pub const Model = struct {
    habits: [max_habits]Habit = @splat(.{}),
    habit_count: usize = 0,
    next_id: u32 = 1,
    filter: Filter = .due,
    /// Counts the days. A checkbox keeps the check that its user gave it, whatever
    /// the model says later; so each day has rows of its own, under other keys.
    day: u32 = 0,
    draft_buffer: canvas.TextBuffer(max_name_bytes) = .{},

    /// Not bound by name: the view asks the functions below.
    pub const view_unbound = .{ "habits", "habit_count", "next_id", "day", "draft_buffer", "all" };

    pub const filters = [_]FilterChoice{
        .{ .filter = .all, .name = "All" },
        .{ .filter = .due, .name = "Due" },
        .{ .filter = .done, .name = "Done" },
    };

    pub fn draft(model: *const Model) []const u8 {
        return model.draft_buffer.text();
    }

    /// `update` obeys this and the button shows it.
    pub fn canAdd(model: *const Model) bool {
        return model.habit_count < max_habits and trimmed(model.draft()).len > 0;
    }

    pub fn visible(model: *const Model, arena: std.mem.Allocator) []const Row {
        var out: std.ArrayList(Row) = .empty;
        for (model.all()) |*habit| {
            if (!model.filter.shows(habit.*)) continue;
            out.append(arena, .{
                .key = @as(u64, model.day) << 32 | habit.id,
                .id = habit.id,
                .name = habit.name(),
                .streak = habit.streak(),
                .done = habit.done,
            }) catch return &.{};
        }
        return out.items;
    }

    pub fn doneCount(model: *const Model) usize {
        var count: usize = 0;
        for (model.all()) |habit| count += @intFromBool(habit.done);
        return count;
    }

    pub fn habitCount(model: *const Model) usize {
        return model.habit_count;
    }

    pub fn all(model: *const Model) []const Habit {
        return model.habits[0..model.habit_count];
    }

    fn find(model: *Model, id: u32) ?*Habit {
        for (model.habits[0..model.habit_count]) |*habit| {
            if (habit.id == id) return habit;
        }
        return null;
    }

    fn remove(model: *Model, id: u32) void {
        for (model.all(), 0..) |habit, index| {
            if (habit.id != id) continue;
            std.mem.copyForwards(Habit, model.habits[index .. model.habit_count - 1], model.habits[index + 1 .. model.habit_count]);
            model.habit_count -= 1;
            return;
        }
    }

    /// The caller has made sure that there is room. The name is copied: the
    /// draft that it comes from is cleared.
    fn append(model: *Model, name: []const u8, days_before: u32, done: bool) void {
        var habit: Habit = .{ .id = model.next_id, .days_before = days_before, .done = done, .name_len = name.len };
        @memcpy(habit.name_storage[0..name.len], name);
        model.habits[model.habit_count] = habit;
        model.habit_count += 1;
        model.next_id += 1;
    }
};

fn trimmed(text: []const u8) []const u8 {
    return std.mem.trim(u8, text, " \t");
}

pub fn update(model: *Model, msg: Msg) void {
    switch (msg) {
        .draft_edit => |edit| model.draft_buffer.apply(edit),
        .add_habit => {
            // Enter in the field sends this whether the button is there or not.
            if (!model.canAdd()) return;
            model.append(trimmed(model.draft()), 0, false);
            model.draft_buffer.clear();
        },
        .toggle_done => |id| {
            const habit = model.find(id) orelse return;
            habit.done = !habit.done;
        },
        .remove_habit => |id| model.remove(id),
        .show => |filter| model.filter = filter,
        .new_day => {
            model.day +%= 1;
            for (model.habits[0..model.habit_count]) |*habit| {
                habit.days_before = if (habit.done) habit.streak() else 0;
                habit.done = false;
            }
        },
    }
}

pub fn initialModel() Model {
    var model: Model = .{};
    model.append("Drink water", 3, false);
    model.append("Read 20 pages", 4, true);
    model.append("Stretch", 0, false);
    model.append("Write in the journal", 11, true);
    return model;
}

// ------------------------------------------------------------- view and app

pub const AppUi = canvas.Ui(Msg);
pub const app_markup = @embedFile("app.native");

pub const App = native_sdk.UiApp(Model, Msg);

/// The same options for the real app and for the tests that run it headless.
pub fn appOptions() App.Options {
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
    options.markup = .{ .source = app_markup, .watch_path = "src/app.native", .io = init.io };

    const app_state = try App.create(std.heap.page_allocator, options);
    defer app_state.destroy();
    app_state.model = initialModel();

    try runner.runWithOptions(app_state.app(), .{
        .app_name = "app",
        .window_title = "Habits",
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
