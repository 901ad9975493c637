/** The style of what a replay and a picture don't contain: pictures, media, canvases. */
export const PLACEHOLDERS =
  'img:not([src]), video, audio, canvas, object, embed { background: #8883; outline: 1px dashed #8886; outline-offset: -1px }';
