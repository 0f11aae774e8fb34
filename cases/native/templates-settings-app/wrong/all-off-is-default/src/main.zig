//! Settings in three sections. The model is the set of the settings that are on;
//! rows, counts and what is left to restore are read off it.

const std = @import("std");
const runner = @import("runner");
const native_sdk = @import("native_sdk");

pub const panic = std.debug.FullPanic(native_sdk.debug.capturePanic);

const canvas = native_sdk.canvas;
const geometry = native_sdk.geometry;

pub const canvas_label = "main-canvas";
pub const window_size = geometry.SizeF.init(560, 860);
/// The smallest window; tests.zig shows that everything fits in it.
pub const window_min_size = geometry.SizeF.init(420, 360);

const app_permissions = [_][]const u8{ native_sdk.security.permission_command, native_sdk.security.permission_view };
const shell_views = [_]native_sdk.ShellView{
    .{ .label = canvas_label, .kind = .gpu_surface, .fill = true, .role = "Settings canvas", .accessibility_label = "Settings", .gpu_backend = .metal, .gpu_pixel_format = .bgra8_unorm, .gpu_present_mode = .timer, .gpu_alpha_mode = .@"opaque", .gpu_color_space = .srgb, .gpu_vsync = true },
};
const shell_windows = [_]native_sdk.ShellWindow{.{
    .label = "main",
    .title = "Settings",
    .width = window_size.width,
    .height = window_size.height,
    .min_width = window_min_size.width,
    .min_height = window_min_size.height,
    .restore_state = false,
    .views = &shell_views,
}};
const shell_scene: native_sdk.ShellConfig = .{ .windows = &shell_windows };

// ------------------------------------------------------------------ model

pub const Section = enum { notifications, privacy, editor };

pub const Setting = enum {
    email_digest,
    push_alerts,
    sound_effects,
    share_usage,
    personal_ads,
    search_history,
    autosave,
    word_wrap,
    line_numbers,

    const About = struct { section: Section, name: []const u8, note: []const u8, on_at_first: bool };

    /// All that is known of a setting, and the only place that lists them.
    fn about(setting: Setting) About {
        return switch (setting) {
            .email_digest => .{ .section = .notifications, .name = "Email digest", .note = "A summary every Monday", .on_at_first = true },
            .push_alerts => .{ .section = .notifications, .name = "Push alerts", .note = "As soon as something happens", .on_at_first = false },
            .sound_effects => .{ .section = .notifications, .name = "Sound effects", .note = "A chime with each alert", .on_at_first = true },
            .share_usage => .{ .section = .privacy, .name = "Share usage data", .note = "Anonymous counts of what you use", .on_at_first = false },
            .personal_ads => .{ .section = .privacy, .name = "Personalized ads", .note = "Ads chosen by what you read", .on_at_first = false },
            .search_history => .{ .section = .privacy, .name = "Remember search history", .note = "Kept on this computer only", .on_at_first = true },
            .autosave => .{ .section = .editor, .name = "Autosave", .note = "Save whenever you stop typing", .on_at_first = true },
            .word_wrap => .{ .section = .editor, .name = "Word wrap", .note = "Break long lines at the edge", .on_at_first = true },
            .line_numbers => .{ .section = .editor, .name = "Line numbers", .note = "Shown left of the text", .on_at_first = false },
        };
    }
};

const Settings = std.EnumSet(Setting);

/// A setting as the view shows it.
pub const Row = struct { key: u64, id: Setting, name: []const u8, note: []const u8, on: bool };

pub const Msg = union(enum) {
    toggle: Setting,
    turn_off_section: Section,
    restore_defaults,
};

pub const Model = struct {
    on: Settings = defaults(),
    /// How often settings were changed other than by their switches. A switch keeps
    /// the position that its user gave it, whatever the model says later; so such a
    /// change makes the rows anew, under other keys.
    generation: u32 = 0,

    /// The view sees settings as rows and counts, never the set itself.
    pub const view_unbound = .{ "on", "generation" };

    pub fn notificationRows(model: *const Model, arena: std.mem.Allocator) []const Row {
        return model.rows(.notifications, arena);
    }

    pub fn privacyRows(model: *const Model, arena: std.mem.Allocator) []const Row {
        return model.rows(.privacy, arena);
    }

    pub fn editorRows(model: *const Model, arena: std.mem.Allocator) []const Row {
        return model.rows(.editor, arena);
    }

    pub fn notificationsOn(model: *const Model) usize {
        return model.countOn(.notifications);
    }

    pub fn privacyOn(model: *const Model) usize {
        return model.countOn(.privacy);
    }

    pub fn editorOn(model: *const Model) usize {
        return model.countOn(.editor);
    }

    pub fn notificationSummary(model: *const Model, arena: std.mem.Allocator) []const u8 {
        return model.summary(.notifications, arena);
    }

    pub fn privacySummary(model: *const Model, arena: std.mem.Allocator) []const u8 {
        return model.summary(.privacy, arena);
    }

    pub fn editorSummary(model: *const Model, arena: std.mem.Allocator) []const u8 {
        return model.summary(.editor, arena);
    }

    pub fn totalOn(model: *const Model) usize {
        return model.on.count();
    }

    pub fn total(_: *const Model) usize {
        return std.enums.values(Setting).len;
    }

    pub fn atDefaults(model: *const Model) bool {
        return model.on.eql(defaults());
    }

    fn rows(model: *const Model, section: Section, arena: std.mem.Allocator) []const Row {
        var out: std.ArrayList(Row) = .empty;
        for (std.enums.values(Setting)) |setting| {
            const about = setting.about();
            if (about.section != section) continue;
            out.append(arena, .{
                .key = @as(u64, model.generation) << 8 | @intFromEnum(setting),
                .id = setting,
                .name = about.name,
                .note = about.note,
                .on = model.on.contains(setting),
            }) catch return &.{};
        }
        return out.items;
    }

    fn summary(model: *const Model, section: Section, arena: std.mem.Allocator) []const u8 {
        var size: usize = 0;
        for (std.enums.values(Setting)) |setting| size += @intFromBool(setting.about().section == section);
        return std.fmt.allocPrint(arena, "{d} of {d} on", .{ model.countOn(section), size }) catch "";
    }

    fn countOn(model: *const Model, section: Section) usize {
        var count: usize = 0;
        var iterator = model.on.iterator();
        while (iterator.next()) |setting| count += @intFromBool(setting.about().section == section);
        return count;
    }
};

fn defaults() Settings {
    var on: Settings = .initEmpty();
    for (std.enums.values(Setting)) |setting| on.setPresent(setting, false);
    return on;
}

pub fn update(model: *Model, msg: Msg) void {
    switch (msg) {
        .toggle => |setting| model.on.toggle(setting),
        .turn_off_section => |section| {
            model.generation +%= 1;
            for (std.enums.values(Setting)) |setting| {
                if (setting.about().section == section) model.on.remove(setting);
            }
        },
        .restore_defaults => {
            model.generation +%= 1;
            model.on = defaults();
        },
    }
}

pub fn initialModel() Model {
    return .{};
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
        .window_title = "Settings",
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
