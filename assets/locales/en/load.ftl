# Opening, and what is kept between starts
load-restored = Restored your notes and layout of { $time }
load-restored-crash = Restored your notes and layout of { $time }: the window had ended without closing
load-aside-broken = What was kept could not be read. It was set aside as { $path }
load-aside-newer = What was kept comes from a newer version. It was set aside as { $path }
load-aside-stuck = What was kept can be neither read nor set aside ({ $why }): { $path }
load-save-failed = Notes and layout cannot be kept: { $why }
load-reload-failed = Reading again found nothing; what was read before stays
