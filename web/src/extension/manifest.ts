/** The manifest of each edition. docs/use/extension.md explains every permission. */
export type Edition = 'chromium' | 'firefox';

const ICONS = { 16: 'icon-16.png', 32: 'icon-32.png', 48: 'icon-48.png', 128: 'icon-128.png' };

export function createManifest(edition: Edition, version: string): object {
  return {
    manifest_version: 3,
    name: 'ticketbox',
    version,
    description:
      'Report a bug in one click: create a ticket with a screenshot, console, network requests and errors.',
    icons: ICONS,
    action: { default_popup: 'popup.html', default_title: 'Report a bug', default_icon: ICONS },
    options_ui: { page: 'options.html', open_in_tab: true },
    commands: {
      _execute_action: {
        suggested_key: { default: 'Alt+Shift+K' },
        description: 'Report a bug on this page',
      },
    },
    permissions: [
      ...['activeTab', 'alarms', 'contextMenus', 'scripting', 'storage', 'unlimitedStorage'],
      // Chromium sends no events for it if it is granted later, until the extension is loaded again
      ...(edition === 'firefox' ? [] : ['webRequest']),
    ],
    ...(edition === 'firefox' ? { optional_permissions: ['webRequest'] } : {}),
    // Firefox's pattern of all sites includes sockets
    optional_host_permissions: ['*://*/*', ...(edition === 'firefox' ? [] : ['ws://*/*', 'wss://*/*'])],
    content_security_policy: {
      extension_pages:
        "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self' blob: data:; connect-src 'self' http: https: data:; base-uri 'none'; form-action 'none'",
    },
    ...(edition !== 'firefox'
      ? {
          background: { service_worker: 'background.js', type: 'module' },
          minimum_chrome_version: '127',
        }
      : {
          background: { scripts: ['background.js'], type: 'module' },
          browser_specific_settings: {
            gecko: {
              id: 'extension@ticketbox.app',
              strict_min_version: '142.0',
              data_collection_permissions: { required: ['websiteContent', 'browsingActivity'] },
            },
          },
        }),
  };
}
