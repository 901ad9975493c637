/**
 * The events of the DevTools protocol 1.3 that deep recording uses, with the fields that it reads. Times are in
 * seconds, except those of the Runtime domain, which are in milliseconds.
 */
type Headers = { [name: string]: string };

export interface Response {
  status: number;
  statusText: string;
  headers: Headers;
  mimeType?: string;
  fromDiskCache?: boolean;
  fromServiceWorker?: boolean;
}
export interface RequestWillBeSent {
  frameId?: string;
  loaderId: string;
  documentURL: string;
  request: { url: string; method: string; headers: Headers; postData?: string; hasPostData?: boolean };
  timestamp: number;
  wallTime: number;
  initiator: { url?: string; stack?: StackTrace };
  redirectResponse?: Response;
  type?: string;
}
export interface ResponseReceived {
  response: Response;
}
export interface LoadingFinished {
  timestamp: number;
  encodedDataLength: number;
}
export interface LoadingFailed {
  timestamp: number;
  errorText: string;
  canceled?: boolean;
  blockedReason?: string;
  corsErrorStatus?: { corsError: string };
}
export interface WebSocketWillSendHandshakeRequest {
  timestamp: number;
  wallTime: number;
  request: { headers: Headers };
}
export interface StackTrace {
  callFrames: { functionName: string; url: string; lineNumber: number; columnNumber: number }[];
}
export interface RemoteObject {
  type: string;
  value?: unknown;
  unserializableValue?: string;
  description?: string;
  preview?: { subtype?: string; properties: { name: string; value?: string }[] };
}
export interface ConsoleApiCalled {
  type: string;
  args: RemoteObject[];
  timestamp: number;
  stackTrace?: StackTrace;
}
export interface ExceptionThrown {
  timestamp: number;
  exceptionDetails: { text: string; exception?: RemoteObject; stackTrace?: StackTrace };
}
