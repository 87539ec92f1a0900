// SPDX-License-Identifier: Apache-2.0
package io.sagitta.model;

import java.io.EOFException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.util.concurrent.TimeoutException;

/**
 * Why something failed, as it may stand in a message to a user: words and files, never the names of
 * classes. The trace belongs in the log, or in the cause.
 */
public final class Reason {
  private Reason() {}

  /** The first words that a failure or one of its causes has. */
  public static String of(Throwable failure) {
    for (Throwable at = failure; at != null; at = at.getCause()) {
      String words = words(at);
      if (words != null) {
        return words;
      }
    }
    return "no reason was given";
  }

  private static String words(Throwable failure) {
    return switch (failure) {
      case FileSystemException file -> file.getFile() + ": " + words(file);
      case NullPointerException _, ClassCastException _ -> "it is a bug, and the log has its trace";
      default -> failure.getMessage() == null ? ofKind(failure) : ofMessage(failure);
    };
  }

  /** An exception made of its cause alone has the cause's class in its message. */
  private static String ofMessage(Throwable failure) {
    boolean causesOwn =
        failure.getCause() != null && failure.getMessage().equals(failure.getCause().toString());
    return causesOwn ? null : failure.getMessage();
  }

  private static String ofKind(Throwable failure) {
    return switch (failure) {
      case ClosedChannelException _ -> "it was closed meanwhile";
      case EOFException _ -> "it ends too early";
      case TimeoutException _ -> "it took too long";
      case InterruptedException _ -> "it was told to stop";
      default -> null;
    };
  }

  private static String words(FileSystemException failure) {
    if (failure.getReason() != null) {
      return failure.getReason();
    }
    return switch (failure) {
      case AccessDeniedException _ -> "access is denied";
      case NoSuchFileException _ -> "there is no such file or folder";
      case FileAlreadyExistsException _ -> "is a file where a folder is expected";
      case NotDirectoryException _ -> "is no folder";
      default -> "cannot be used";
    };
  }
}
