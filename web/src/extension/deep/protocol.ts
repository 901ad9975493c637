/** What is used of the DevTools protocol 1.3: times are seconds, those of the Runtime domain milliseconds. */
type Headers = { [name: string]: string };

export interface Response {
  status: number;
  statusText: string;
  headers: Headers;
  mimeType?: string;
  fromDiskCache?: boolean;
  fromServiceWorker?: boolean;
}
export interface Request {
  frameId?: string;
  loaderId: string;
  documentURL: string;
  request: { url: string; method: string; headers: Headers; postData?: string; hasPostData?: boolean };
  timestamp: number;
  wallTime: number;
  initiator: { url?: string; stack?: Stack };
  redirectResponse?: Response;
  type?: string;
}
export interface Received {
  response: Response;
}
export interface Finished {
  timestamp: number;
  encodedDataLength: number;
}
export interface Failed {
  timestamp: number;
  errorText: string;
  canceled?: boolean;
  blockedReason?: string;
  corsErrorStatus?: { corsError: string };
}
export interface Socket {
  timestamp: number;
  wallTime: number;
  request: { headers: Headers };
}
interface Stack {
  callFrames: { functionName: string; url: string; lineNumber: number; columnNumber: number }[];
}
export interface Value {
  type: string;
  value?: unknown;
  unserializableValue?: string;
  description?: string;
  preview?: { subtype?: string; properties: { name: string; value?: string }[] };
}
export interface Call {
  type: string;
  args: Value[];
  timestamp: number;
  stackTrace?: Stack;
}
export interface Thrown {
  timestamp: number;
  exceptionDetails: { text: string; exception?: Value; stackTrace?: Stack };
}
