import { Problem } from './server/problem';

interface Question {
  answer: () => void;
  cancel: () => void;
}

/** The question for the password that is open, if any. PasswordDialog shows it. */
class Confirmation {
  question = $state.raw<Question | null>(null);

  /** Ask for the password; resolves when the server has confirmed it, rejects when the person cancels. */
  ask(refusal: Problem): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (then: () => void) => () => {
        this.question = null;
        then();
      };
      this.question = { answer: end(resolve), cancel: end(() => reject(refusal)) };
    });
  }
}

export const confirmation = new Confirmation();

/** Attach a refusal of the password or of its code to the field. */
export function locateRefusal(error: unknown): unknown {
  if (!(error instanceof Problem) || error.status !== 403) return error;
  return error.forField(error.code === 'forbidden' ? 'current_password' : 'code');
}

/** Refusals that end when the person has confirmed. */
const REQUIRED = ['password_required', 'second_factor_required'];

/** Make a call; if it requires the password or second factor, ask for it and repeat the call. Raises Problem. */
export async function withPassword<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof Problem) || !REQUIRED.includes(error.code)) throw error;
    await confirmation.ask(new Problem(error.status, error.code, 'Enter your password to continue'));
    return call();
  }
}
