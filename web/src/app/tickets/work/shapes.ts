import type { By, WorkState } from '../../../../generated/api';

export interface PlanItem {
  text: string;
  state: 'pending' | 'active' | 'done' | 'dropped';
}
export interface WorkLink {
  kind: 'branch' | 'commit' | 'pull_request' | 'preview';
  url: string;
  state: string | null;
}
export interface Usage {
  input_tokens: number | null;
  output_tokens: number | null;
  cost_usd: number | null;
}
export interface Question {
  id: string;
  question: string;
  choices: string[];
}
export interface WorkSession {
  id: string;
  ticket_id: string;
  by: By;
  run: string | null;
  state: WorkState;
  note: string | null;
  plan: PlanItem[];
  links: WorkLink[];
  usage: Usage | null;
  started: string;
  last_seen: string | null;
  ended: string | null;
  question: Question | null;
}
