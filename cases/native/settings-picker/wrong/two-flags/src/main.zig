//! Two settings, each picked from a list that opens below it.

const std = @import("std");
const runner = @import("runner");
const native_sdk = @import("native_sdk");

pub const panic = std.debug.FullPanic(native_sdk.debug.capturePanic);

const canvas = native_sdk.canvas;
const geometry = native_sdk.geometry;

pub const canvas_label = "main-canvas";
pub const window_size = geometry.SizeF.init(520, 420);
/// The smallest window; tests.zig shows that everything fits in it.
pub const window_min_size = geometry.SizeF.init(400, 320);

const app_permissions = [_][]const u8{ native_sdk.security.permission_command, native_sdk.security.permission_view };
const shell_views = [_]native_sdk.ShellView{
    .{ .label = canvas_label, .kind = .gpu_surface, .fill = true, .role = "Appearance canvas", .accessibility_label = "Appearance", .gpu_backend = .metal, .gpu_pixel_format = .bgra8_unorm, .gpu_present_mode = .timer, .gpu_alpha_mode = .@"opaque", .gpu_color_space = .srgb, .gpu_vsync = true },
};
const shell_windows = [_]native_sdk.ShellWindow{.{
    .label = "main",
    .title = "Appearance",
    .width = window_size.width,
    .height = window_size.height,
    .min_width = window_min_size.width,
    .min_height = window_min_size.height,
    .restore_state = false,
    .views = &shell_views,
}};
const shell_scene: native_sdk.ShellConfig = .{ .windows = &shell_windows };

// ------------------------------------------------------------------ model

pub const Theme = enum {
    system,
    light,
    dark,

    pub fn name(theme: Theme) []const u8 {
        return switch (theme) {
            .system => "System",
            .light => "Light",
            .dark => "Dark",
        };
    }
};

pub const Accent = enum {
    blue,
    green,
    orange,
    violet,

    pub fn name(accent: Accent) []const u8 {
        return switch (accent) {
            .blue => "Blue",
            .green => "Green",
            .orange => "Orange",
            .violet => "Violet",
        };
    }
};

/// One line of a list.
fn Choice(comptime Value: type) type {
    return struct { value: Value, name: []const u8, current: bool };
}
pub const ThemeChoice = Choice(Theme);
pub const AccentChoice = Choice(Accent);

pub const Msg = union(enum) {
    toggle_themes,
    dismiss_themes,
    pick_theme: Theme,
    toggle_accents,
    dismiss_accents,
    pick_accent: Accent,
};

pub const Model = struct {
    theme: Theme = .system,
    accent: Accent = .blue,
    theme_open: bool = false,
    accent_open: bool = false,

    pub const view_unbound = .{ "theme", "accent", "theme_open", "accent_open" };

    pub fn themeName(model: *const Model) []const u8 {
        return model.theme.name();
    }

    pub fn accentName(model: *const Model) []const u8 {
        return model.accent.name();
    }

    pub fn themeOpen(model: *const Model) bool {
        return model.theme_open;
    }

    pub fn accentOpen(model: *const Model) bool {
        return model.accent_open;
    }

    pub fn themes(model: *const Model, arena: std.mem.Allocator) []const ThemeChoice {
        return choices(Theme, model.theme, arena);
    }

    pub fn accents(model: *const Model, arena: std.mem.Allocator) []const AccentChoice {
        return choices(Accent, model.accent, arena);
    }
};

fn choices(comptime Value: type, current: Value, arena: std.mem.Allocator) []const Choice(Value) {
    const values = std.enums.values(Value);
    const out = arena.alloc(Choice(Value), values.len) catch return &.{};
    for (out, values) |*choice, value| {
        choice.* = .{ .value = value, .name = value.name(), .current = value == current };
    }
    return out;
}

pub fn update(model: *Model, msg: Msg) void {
    switch (msg) {
        .toggle_themes => model.theme_open = !model.theme_open,
        .dismiss_themes => model.theme_open = false,
        .pick_theme => |theme| {
            model.theme = theme;
            model.theme_open = false;
        },
        .toggle_accents => model.accent_open = !model.accent_open,
        .dismiss_accents => model.accent_open = false,
        .pick_accent => |accent| {
            model.accent = accent;
            model.accent_open = false;
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
        .window_title = "Appearance",
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
