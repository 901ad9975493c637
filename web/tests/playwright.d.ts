// the files of reproductions, which tests import, name types of a package that isn't installed here
declare module '@playwright/test';
