import type { LabelColor } from '../../../../generated/api';

/** The colours of labels, with their names. */
export const LABEL_COLORS: Record<LabelColor, string> = {
  blue: 'Blue',
  green: 'Green',
  orange: 'Orange',
  pink: 'Pink',
  teal: 'Teal',
  yellow: 'Yellow',
  red: 'Red',
  brown: 'Brown',
  gray: 'Gray',
};
