/** Texts for invalid fields, where the API's own details are meant for developers. */
export const NAME_ERROR = 'Use 1 to 100 characters on one line.';
export const EMAIL_ERROR = 'Use a valid email address that no other account has.';
