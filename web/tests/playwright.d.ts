/* eslint-disable @typescript-eslint/no-explicit-any */
// the files of reproductions, which tests import, name types of a package that isn't installed here
declare module '@playwright/test' {
  export type Page = any;
  export type Response = any;
  export type Route = any;
  export type WebSocketRoute = any;
}
