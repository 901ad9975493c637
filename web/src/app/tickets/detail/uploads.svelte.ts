import { withBase } from '../../core/navigation/base';
import type { Asset } from '../../../../generated/api';
import { describeError, Problem } from '../../core/server/problem';
import { chooseKey, rememberLost } from '../../core/server/repeated-requests';

const MAX_BYTES = 32 * 1024 * 1024;

export interface Upload {
  id: number;
  name: string;
  /** From 0 to 1. */
  progress: number;
  error: string | null;
}

/** The running and failed uploads of a ticket. */
export class Uploads {
  list = $state<Upload[]>([]);
  #ticket: string;
  #last = 0;

  constructor(ticket: string) {
    this.#ticket = ticket;
  }

  /** Upload a file. Returns null if it fails; the list has the error. */
  async add(file: File): Promise<Asset | null> {
    const id = ++this.#last;
    this.list.push({ id, name: file.name, progress: 0, error: null });
    const upload = this.list.at(-1)!;
    try {
      if (file.size > MAX_BYTES) throw new Error(`“${file.name}” is larger than 32 MB.`);
      const asset = await postFile(this.#ticket, file, (progress) => (upload.progress = progress));
      this.dismiss(id);
      return asset;
    } catch (error) {
      upload.error = describeError(error);
      return null;
    }
  }

  dismiss(id: number): void {
    this.list = this.list.filter((each) => each.id !== id);
  }
}

/** Post a file with XMLHttpRequest, because fetch reports no upload progress. */
function postFile(ticket: string, file: File, progress: (part: number) => void): Promise<Asset> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open('POST', withBase(`/api/v1/tickets/${ticket}/attachments`));
    const content = [ticket, file.name, file.size, file.lastModified].join(' ');
    const key = chooseKey(content);
    request.setRequestHeader('Idempotency-Key', key);
    request.upload.onprogress = ({ loaded, total }) => progress(total > 0 ? loaded / total : 0);
    request.onerror = () => {
      rememberLost(content, key);
      reject(new Problem(0, 'unreachable', 'The connection was lost. Try again.'));
    };
    request.onload = () => {
      const { status, responseText } = request;
      if (status < 300) resolve(JSON.parse(responseText) as Asset);
      else void Problem.fromResponse(new Response(responseText, { status })).then(reject);
    };
    const form = new FormData();
    form.append('file', file, file.name || 'file');
    request.send(form);
  });
}
