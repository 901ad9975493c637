/** A picture of the page, as the person shares it: a page can't take one without asking. */

/** Phones and pages without HTTPS can't. */
export const canTakePicture = typeof navigator.mediaDevices?.getDisplayMedia === 'function';

/** Ask the person to share the page's tab, and take one picture. Raises Error if they don't. */
export async function takePicture(): Promise<File> {
  // Chromium's options put the page's own tab first
  const options = { video: true, audio: false, preferCurrentTab: true };
  const stream = await navigator.mediaDevices.getDisplayMedia(options as DisplayMediaStreamOptions);
  try {
    const video = document.createElement('video');
    video.muted = true;
    video.srcObject = stream;
    await video.play();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [video.videoWidth, video.videoHeight];
    canvas.getContext('2d')!.drawImage(video, 0, 0);
    const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/png'));
    if (!blob) throw new Error('The browser returned no picture.');
    return new File([blob], 'page.png', { type: blob.type });
  } finally {
    for (const track of stream.getTracks()) track.stop();
  }
}
