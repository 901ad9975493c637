/**
 * The rules for what a replay and a picture don't contain: pictures, media, canvases, and which option of a select is
 * chosen, where the first would be shown otherwise.
 */
export const PLACEHOLDERS = [
  'img:not([src]), video, audio, canvas, object, embed { background: #8883; outline: 1px dashed #8886; outline-offset: -1px }',
  'select:not([multiple], [size]) { color: transparent !important }',
];
